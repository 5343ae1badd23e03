import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Access } from '../auth/resource-server.ts';

/** What is written of an answer: who asked for which route, what became of it, how long it took. Never a URL, a header or a body: they may hold e-mails, tokens and secrets. */
export interface AccessLine {
  readonly method: string;
  /** The route's pattern; `null` where there is none. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly access: Pick<Access, 'clientId' | 'tenant'> | null;
}

/** Writes the line of one answer; `fields` stand beside it. */
export function logAccess(
  logger: Pick<FastifyBaseLogger, 'info'>,
  { method, route, status, durationMs, access }: AccessLine,
  fields: Readonly<Record<string, string | null>> = {},
): void {
  logger.info(
    {
      ...fields,
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      client_id: access?.clientId ?? null,
      tenant: access?.tenant ?? null,
    },
    'request',
  );
}

/** Writes one line for each answer. */
export function addAccessLog(app: FastifyInstance): void {
  app.decorateRequest('audit', null);
  app.addHook('onResponse', async (request, reply) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      access: request.access,
    };
    logAccess(request.log, line, { ...request.audit });
  });
}
