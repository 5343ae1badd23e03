import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { operations } from '../../contract/operations.ts';

/** The API reference of a listener. */
interface DocsOptions {
  readonly openApi: object;
  /** Title of the page. */
  readonly title: string;
  /** Origins that the page may send requests to, besides its own. */
  readonly origins?: readonly string[];
}

/** Adds the OpenAPI document at `/openapi.json`, and a page of it at `/docs`. */
export async function addDocsRoutes(
  app: FastifyInstance,
  { openApi, title, origins = [] }: DocsOptions,
): Promise<void> {
  const json = JSON.stringify(openApi);
  app.get(operations.getOpenapi.path, async (_request, reply) =>
    reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }).send(json),
  );
  await app.register(swagger, {
    mode: 'static',
    specification: { document: openApi as StaticDocumentSpec['document'] },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true, displayRequestDuration: true },
    theme: { title, css: [{ filename: 'subreport.css', content: '.swagger-ui .topbar { display: none }' }] },
    // The library's own policy upgrades requests for its assets to https, which a service on plain
    // http does not serve.
    staticCSP: `default-src 'self'; connect-src ${["'self'", ...origins].join(' ')}; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'`,
  });
}
