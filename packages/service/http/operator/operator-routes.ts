import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperatorOperation } from '../../../contract/operator/operation.ts';
import { type OperatorApiId, type OperatorBody, operatorApi } from '../../../contract/operator/operations.ts';
import { Type } from '../../../contract/type.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { OperatorAccess } from '../../auth/verify/authorize-operator.ts';
import type { OperatorContext } from '../../operator/perform.ts';
import type { Store } from '../../storage/store.ts';
import { acceptBodies, queryOf, routePath } from '../listener/operation-routes.ts';
import { readJsonBody } from '../listener/read-body.ts';
import { liftDeadline, withinRequest } from '../listener/request-deadline.ts';
import {
  type AuthorizeOperator,
  actorOf,
  logUnrecordedEnd,
  readPath,
  readQuery,
  rejectAction,
} from './operator-request.ts';

export interface OperatorRoutes {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly audit: AuditLog;
}

/** An authorized and checked request. */
interface OperatorCall<Id extends OperatorApiId> {
  /**
   * Passed to the functions of `packages/service/operator/`; store calls through it stop at the
   * request's deadline.
   */
  readonly context: OperatorContext;
  /** The same without the request's deadline, for work that has limits of its own. */
  readonly contextWithoutDeadline: () => OperatorContext;
  /** The path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The query parameters that the request has. */
  readonly query: Readonly<Record<string, never>>;
  readonly body: OperatorBody<Id>;
}

/** Adds the route of an operation; the handler returns the body of the response. */
export type AddRoute = <Id extends OperatorApiId>(
  id: Id,
  handle: (call: OperatorCall<Id>) => Promise<object | string>,
) => void;

/** Small enough for many concurrent bodies in memory. */
const bodyBytesMax = 65_536;

/**
 * Adds routes of the operator's API. Each request is authorized before its body is read, and
 * checked by the operation's schemas before `handle` runs.
 */
export async function addOperatorRoutes(
  app: FastifyInstance,
  options: OperatorRoutes,
  authorize: AuthorizeOperator,
  groups: readonly ((add: AddRoute) => void)[],
): Promise<void> {
  await app.register(async (scope) => {
    acceptBodies(scope);
    const add: AddRoute = (id, handle) => {
      const operation: OperatorOperation = operatorApi[id];
      scope.route({
        method: operation.method,
        url: routePath(operation.path),
        bodyLimit: operation.bodyBytesMax ?? bodyBytesMax,
        onRequest: async (request) => {
          request.operator = await authorize(request, operation.scope);
        },
        handler: async (request, reply) => {
          const result = await handle(readCall(operation, options, request) as OperatorCall<typeof id>).catch(
            rejectAction,
          );
          return send(reply, operation, result);
        },
      });
    };
    for (const addGroup of groups) addGroup(add);
  });
}

function readCall(operation: OperatorOperation, { store, now, audit }: OperatorRoutes, request: FastifyRequest) {
  const input = readInput(operation, request.params, queryOf(request), request.body as Buffer | undefined);
  const actor = actorOf(operatorOf(request), request.ip);
  const onUnrecorded = logUnrecordedEnd(request);
  const context: OperatorContext = { store, now, actor, audit, correlationId: request.id, onUnrecorded };
  const contextWithoutDeadline = (): OperatorContext => {
    liftDeadline(request);
    return context;
  };
  return { context: withinRequest(context, request), contextWithoutDeadline, ...input };
}

/** Reads what an operation is called with; throws `ProblemError` unless it fits the schemas. */
export const readInput = (operation: OperatorOperation, params: unknown, query: string, body: Buffer | undefined) => ({
  params: readPath(params),
  query: readQuery(query, operation.query ?? {}, operation.requiredQuery),
  body: readJsonBody(body, operation.body ?? Type.Object({})),
});

function operatorOf({ operator }: FastifyRequest): OperatorAccess {
  if (operator === null) throw new TypeError('Cannot serve the operator: the route must authorize first');
  return operator;
}

function send(reply: FastifyReply, { response }: OperatorOperation, result: object | string): FastifyReply {
  const body = typeof result === 'string' ? result : JSON.stringify(result);
  const contentType = response.mediaType ?? 'application/json; charset=utf-8';
  return reply.code(response.status).headers({ 'cache-control': 'no-store', 'content-type': contentType }).send(body);
}
