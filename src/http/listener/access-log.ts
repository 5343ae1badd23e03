import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';
import { errorTable } from '../../contract/error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client whose token was refused, where the token tells. */
    refusedClientId: string | null;
  }
}

/**
 * What is written of an answer: who asked for which route, what became of it, how long it took.
 * Never a URL, a header or a body: they may hold e-mails, tokens and secrets.
 */
interface AccessLine {
  readonly method: string;
  /** The route's pattern; `null` where there is none. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly access: Pick<Access, 'clientId' | 'tenant'> | null;
}

/** Writes the line of one answer; `fields` stand beside it, or in its place. */
export function logAccess(
  logger: Pick<FastifyBaseLogger, 'info'>,
  { method, route, status, durationMs, access }: AccessLine,
  fields: Readonly<Record<string, string | null>> = {},
): void {
  logger.info(
    {
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      client_id: access?.clientId ?? null,
      tenant: access?.tenant ?? null,
      ...fields,
    },
    'request',
  );
}

/** Writes one line for each answer. */
export function addAccessLog(app: FastifyInstance): void {
  app.decorateRequest('audit', null);
  app.decorateRequest('refusedClientId', null);
  app.addHook('onResponse', async (request, reply) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      access: request.access,
    };
    logAccess(request.log, line, { ...describeRefusal(request, reply), ...request.audit });
  });
}

/** Statuses that say that somebody was not let in. */
const refusals: readonly number[] = (['UNAUTHORISED', 'ACCESS_DENIED', 'TOO_MANY_REQUESTS'] as const).map(
  (code) => errorTable[code].status,
);

/** From where, and with the token of which client, somebody was not let in. */
function describeRefusal(
  { ip, refusedClientId }: FastifyRequest,
  { statusCode }: FastifyReply,
): Record<string, string> {
  if (!refusals.includes(statusCode)) return {};
  return { address: ip, ...(refusedClientId !== null && { client_id: refusedClientId }) };
}
