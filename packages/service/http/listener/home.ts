import type { FastifyInstance } from 'fastify';

/** Which side of the service a listener or a page is of; each has an accent color. */
export type Listener = 'report' | 'operator';

/** Adds `/`, which leads to the console, or else to the API reference. */
export function addHomeRoute(app: FastifyInstance, hasConsole: boolean): void {
  // relative, for a proxy that adds a prefix to the path
  const page = hasConsole ? './console' : './docs';
  app.get('/', async (_request, reply) => reply.header('cache-control', 'no-cache').redirect(page));
}
