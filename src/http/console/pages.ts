import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

const page = fileURLToPath(new URL('../../console/', import.meta.url));
const built = fileURLToPath(new URL('../../dist/browser/', import.meta.url));

/** Whether the console's scripts were built (`npm run build`). */
export const consoleIsBuilt = (): boolean => existsSync(`${built}console/app.js`);

/** Adds the web console at `/console`: static files, an ordinary client of this service. */
export async function addConsoleRoutes(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header(
        'content-security-policy',
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      );
    });
    const options = { index: false, decorateReply: false, cacheControl: false, wildcard: true } as const;
    await scope.register(fastifyStatic, {
      ...options,
      decorateReply: true,
      root: built,
      prefix: '/console/static/',
      // type declarations would be served as video/mp2t
      allowedPath: (path) => !path.endsWith('.d.ts'),
    });
    for (const url of ['/console', '/console/'])
      scope.get(url, async (_request, reply) => reply.sendFile('index.html', page));
    scope.get('/console/style.css', async (_request, reply) => reply.sendFile('style.css', page));
  });
}
