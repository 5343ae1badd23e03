import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { operations } from '../contract/operations.ts';

/**
 * The contract at `/openapi.json`, and an interactive page of it at `/docs` whose assets all come
 * from here.
 */
export async function addDocsRoutes(app: FastifyInstance, openApi: object, publicUrl: string): Promise<void> {
  const text = JSON.stringify(openApi);
  app.get(operations.getOpenapi.path, async (_request, reply) =>
    reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }).send(text),
  );
  await app.register(swagger, {
    mode: 'static',
    specification: { document: openApi as StaticDocumentSpec['document'] },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', tryItOutEnabled: true, displayRequestDuration: true },
    theme: {
      title: 'subreport: the interface',
      css: [{ filename: 'subreport.css', content: '.swagger-ui .topbar { display: none }' }],
    },
    // Our own policy: the library's sends the browser to https for its assets, which a service on
    // plain http does not have.
    staticCSP: `default-src 'self'; connect-src 'self' ${new URL(publicUrl).origin}; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'`,
  });
}
