import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { operations } from '../../contract/operations.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { renderReference } from './reference-page.ts';

/** The API reference of a listener. */
interface DocsOptions {
  readonly openApi: object;
  /** Title of the page. */
  readonly title: string;
}

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Written by `npm run build`; without them, the page can be read but sends no requests. */
const style = new URL('../../../dist/console/reference/reference.css', import.meta.url);
const script = new URL('../../../dist/console/reference/reference.js', import.meta.url);

/** Adds the OpenAPI document at `/openapi.json`, and a page of it at `/docs`. */
export async function addDocsRoutes(app: FastifyInstance, { openApi, title }: DocsOptions): Promise<void> {
  const json = JSON.stringify(openApi);
  const page = renderReference(openApi as OpenApiDocument, title);
  const send = (path: string, type: string, read: () => string | Promise<string>): void => {
    app.get(path, async (_request, reply) =>
      reply.headers({ 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' }).send(await read()),
    );
  };
  send(operations.getOpenapi.path, 'application/json', () => json);
  if (existsSync(script)) {
    send('/docs/reference.css', 'text/css', () => readFile(style, 'utf8'));
    send('/docs/reference.js', 'text/javascript', () => readFile(script, 'utf8'));
  }
  for (const path of ['/docs', '/docs/'])
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'content-security-policy': contentSecurityPolicy,
        })
        .send(page),
    );
}
