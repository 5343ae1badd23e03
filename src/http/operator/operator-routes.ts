import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { OperatorAccess } from '../../auth/authorize-operator.ts';
import type { OperatorOperation } from '../../contract/operator-operation.ts';
import { type OperatorApiId, type OperatorBody, operatorApi } from '../../contract/operator-operations.ts';
import type { OperatorScope } from '../../contract/scope.ts';
import type { OperatorContext } from '../../operator/perform.ts';
import { type KeepResponse, type KeyedRequest, type KeyedResponse, performOnce } from '../../operator/perform-once.ts';
import type { Directory, Store } from '../../storage/store.ts';
import { routePath } from '../listener/operation-routes.ts';
import { queryOf } from '../listener/query-of.ts';
import { acceptJsonBodies, readJsonBody } from '../listener/read-json-body.ts';
import { liftDeadline, withinRequest } from '../listener/request-deadline.ts';
import { actorOf, logUnrecordedEnd } from './actor-of.ts';
import { keyedRequestOf } from './idempotency.ts';
import { readPath, readQuery } from './read-request.ts';
import { rejectAction } from './reject-action.ts';

/** What the routes of the operator's API need. */
export interface OperatorRoutes {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly audit: AuditLog;
}

/** Returns the operator of a request, who has the scope, or rejects. */
export type AuthorizeOperator = (request: FastifyRequest, scope: OperatorScope) => Promise<OperatorAccess>;

/** An authorized and checked request. */
interface OperatorCall<Id extends OperatorApiId> {
  /** For the functions of `src/operator/`; its store ends its work by the request's deadline. */
  readonly context: OperatorContext;
  /** The same for work with its own limits: lifts the deadline of the request. */
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
    acceptJsonBodies(scope);
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
          const call = readCall(operation, options, request);
          const respond = (result: unknown): KeyedResponse => {
            const body = typeof result === 'string' ? result : JSON.stringify(result);
            return { status: operation.response.status, body };
          };
          const run = async (keep?: KeepResponse): Promise<KeyedResponse> => {
            const kept = keep && { keep: (directory: Directory, result: unknown) => keep(directory, respond(result)) };
            return respond(await handle(call(kept) as OperatorCall<typeof id>).catch(rejectAction));
          };
          const keyed = operation.method === 'POST' ? keyedRequestOf(request, id, operatorOf(request)) : undefined;
          const response = keyed === undefined ? await run() : await runOnce(options, request, keyed, run);
          return send(reply, operation, response);
        },
      });
    };
    for (const addGroup of groups) addGroup(add);
  });
}

/** Reads the parameters and the body; the call is made with what keeps its response. */
function readCall(operation: OperatorOperation, { store, now, audit }: OperatorRoutes, request: FastifyRequest) {
  const params = readPath(request.params);
  const query = readQuery(queryOf(request), operation.query ?? {});
  const body = operation.body && readJsonBody(request.body as Buffer | undefined, operation.body);
  const actor = actorOf(operatorOf(request), request.ip);
  const common = { store, now, actor, audit, correlationId: request.id, onUnrecorded: logUnrecordedEnd(request) };
  return (kept: Pick<OperatorContext, 'keep'> = {}) => {
    const context: OperatorContext = { ...common, ...kept };
    const contextWithoutDeadline = (): OperatorContext => {
      liftDeadline(request);
      return context;
    };
    return { context: withinRequest(context, request), contextWithoutDeadline, params, query, body };
  };
}

function operatorOf({ operator }: FastifyRequest): OperatorAccess {
  if (operator === null) throw new TypeError('Cannot serve the operator: the route must authorize first');
  return operator;
}

/** Runs a request with a key, or repeats the response of the first request with it. */
const runOnce = (
  { store, now }: OperatorRoutes,
  request: FastifyRequest,
  keyed: KeyedRequest,
  run: (keep: KeepResponse) => Promise<KeyedResponse>,
) =>
  performOnce(
    {
      store,
      now,
      onFault: (error) => request.log.error({ err: error }, 'an Idempotency-Key could not be freed'),
    },
    keyed,
    run,
  ).catch(rejectAction);

function send(
  reply: FastifyReply,
  { response }: OperatorOperation,
  { status, body, isReplayed = false }: KeyedResponse & { readonly isReplayed?: boolean },
): FastifyReply {
  const contentType = response.mediaType ?? 'application/json; charset=utf-8';
  if (isReplayed) reply.header('idempotency-replayed', 'true');
  return reply.code(status).headers({ 'cache-control': 'no-store', 'content-type': contentType }).send(body);
}
