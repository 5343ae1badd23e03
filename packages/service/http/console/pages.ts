import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ContentCoding, preferredCoding } from '../listener/content-encoding.ts';
import { preferredType } from '../listener/preferred-type.ts';

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
    scope.get<{ Params: { name: string } }>('/console/static/:name', (request, reply) =>
      sendStatic(join(root, 'static'), request.params.name, request, reply),
    );
    const sendPage = async (reply: FastifyReply): Promise<FastifyReply> => {
      reply.headers({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
      return reply.send(await readFile(join(root, 'index.html')));
    };
    for (const path of pages[name]) scope.get(path, (_request, reply) => sendPage(reply));
    // the script says to people that there is no such page; programs get the error as JSON
    scope.get('/console/*', async (request, reply) => {
      const types = ['application/problem+json', 'application/json', 'text/html'];
      reply.header('vary', 'Accept');
      return preferredType(request, types) === 'text/html' ? sendPage(reply.code(404)) : reply.callNotFound();
    });
  });
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The endings of the compressed forms that the build writes beside large files. */
const endings: Partial<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz' };

/** Sends a file of the build, in the compressed form that the browser prefers if there is one. */
async function sendStatic(
  folder: string,
  name: string,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const type = contentTypes[/^\w[\w.-]*\.(\w+)$/.exec(name)?.[1] ?? ''];
  const file = join(folder, name);
  if (type === undefined || !existsSync(file)) return reply.callNotFound();
  const coding = preferredCoding(headers['accept-encoding'], ['br', 'gzip']);
  const compressed = coding && `${file}${endings[coding]}`;
  const isCompressed = compressed !== undefined && existsSync(compressed);
  reply.headers({
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
    ...(isCompressed && { 'content-encoding': coding }),
  });
  return reply.send(await readFile(isCompressed ? compressed : file));
}
