import type { FastifyInstance } from 'fastify';

/** Writes one line for each answer: who asked for which route, what became of it, how long it took. Never a URL, a header or a body: they may hold e-mails, tokens and secrets. */
export function addAccessLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
        client_id: request.access?.clientId ?? null,
        tenant: request.access?.tenant ?? null,
      },
      'request',
    );
  });
}
