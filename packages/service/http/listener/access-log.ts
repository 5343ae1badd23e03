import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorTable } from '../../../contract/error.ts';
import type { OperatorAccess } from '../../auth/verify/authorize-operator.ts';
import type { Access } from '../../auth/verify/resource-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated client; set on every route that needs a token. */
    access: Access | null;
    /** The authenticated operator; `null` on the public listener. */
    operator: OperatorAccess | null;
    /** The client of a rejected token, if it can be read. */
    refusedClientId: string | null;
  }
}

/** Returns the client of a request; its route must require a token. */
export function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new TypeError('Cannot serve a report: the route must authorize first');
  return request.access;
}

/**
 * What is logged of a response: method, route, status, duration and client. Never a URL, a header
 * or a body: they may contain emails, tokens and secrets.
 */
interface AccessLine {
  readonly method: string;
  /** Pattern of the route; `null` if no route matched. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly access: Pick<Access, 'clientId' | 'tenant'> | null;
}

/** Receives what is logged of each response, and the outcome of a request by an OAuth client. */
export type ResponseObserver = (line: AccessLine, outcome?: FastifyRequest['audit']) => void;

export function addAccessLog(app: FastifyInstance, observe: ResponseObserver | undefined): void {
  app.decorateRequest('access', null);
  app.decorateRequest('audit', null);
  app.decorateRequest('refusedClientId', null);
  app.decorateRequest('operator', null);
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      access: request.access,
    };
    observe?.(line, request.audit);
    const { method, route, status, durationMs, access } = line;
    request.log.info(
      {
        ...{ method, route, status, duration_ms: Math.round(durationMs * 1000) / 1000 },
        ...{ client_id: access?.clientId ?? null, tenant: access?.tenant ?? null },
        ...(request.operator !== null && { operator_id: request.operator.id }),
        ...describeRefusal(request, reply),
        ...request.audit,
      },
      'request',
    );
    done();
  });
}

/** Statuses of rejected clients. */
const refusals: readonly number[] = (['UNAUTHORISED', 'ACCESS_DENIED', 'TOO_MANY_REQUESTS'] as const).map(
  (code) => errorTable[code].status,
);

/** The address of a rejected client, and the client of its token if it is known. */
function describeRefusal(
  { ip, refusedClientId }: FastifyRequest,
  { statusCode }: FastifyReply,
): Record<string, string> | undefined {
  if (!refusals.includes(statusCode)) return undefined;
  return { address: ip, ...(refusedClientId !== null && { client_id: refusedClientId }) };
}
