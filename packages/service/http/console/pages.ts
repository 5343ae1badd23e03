import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Written by `npm run build`: a folder for each console. */
const built = fileURLToPath(new URL('../../../../dist/console/', import.meta.url));

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The paths of each console's pages; all have the same HTML, and the script draws the page. */
const pages = {
  report: [
    '/console',
    '/console/',
    '/console/subscriptions',
    '/console/subscriptions/:id',
    '/console/sims/:iccid',
    '/console/changes',
    '/console/findings',
    '/console/exports',
  ],
  operator: [
    '/console',
    '/console/',
    '/console/tenants',
    '/console/tenants/:tenant',
    '/console/clients',
    '/console/clients/:client_id',
    '/console/imports',
    '/console/imports/:import_id',
    '/console/keys',
    '/console/audit',
    '/console/operators',
    '/console/settings',
  ],
} as const;

type ConsoleName = keyof typeof pages;

/** Whether the consoles were built (`npm run build`). */
export const consoleIsBuilt = (): boolean => existsSync(join(built, 'report/index.html'));

/**
 * Adds the pages of a console. The names of scripts and styles contain a hash of their content, so
 * browsers keep them; the HTML is revalidated at each load.
 */
export async function addConsolePages(app: FastifyInstance, name: ConsoleName): Promise<void> {
  const root = join(built, name);
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', policy);
    });
    await scope.register(fastifyStatic, {
      root: join(root, 'static'),
      prefix: '/console/static/',
      index: false,
      wildcard: true,
      preCompressed: true,
      immutable: true,
      maxAge: '1y',
    });
    for (const path of pages[name])
      scope.get(path, async (_request, reply) => {
        reply.header('cache-control', 'no-cache');
        return reply.sendFile('index.html', root, { cacheControl: false });
      });
  });
}
