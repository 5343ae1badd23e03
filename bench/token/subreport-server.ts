import diagnostics from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { createClient } from '../../src/auth/manage-clients.ts';
import { readConfig } from '../../src/cli/config.ts';
import { createLogger } from '../../src/cli/logger.ts';
import { serve } from '../../src/cli/serve.ts';
import { nowSeconds, openReadyStore, requireTenant } from '../../src/cli/store-session.ts';
import { operations } from '../../src/contract/operations.ts';
import { insertTenant } from '../../src/storage/tenant.ts';
import { freePort } from '../../test/support/postgres-server.ts';
import { announceServer } from './announce-server.ts';
import { clientCount, guardedPath, openPath, reportPage } from './plan.ts';

// The service as `subreport serve` runs it, access log included, with two routes more: one that is open, and one behind the very check of the report.

diagnostics.subscribe('fastify.initialization', (message) => {
  const { fastify: app } = message as { fastify: FastifyInstance };
  app.get(openPath, async (_request, reply) => reply.type('application/json; charset=utf-8').send(reportPage));
  app.addHook('onRoute', ({ url, method, onRequest }) => {
    if (url !== operations.listSubscriptions.path || method !== 'GET') return;
    const [authorize] = [onRequest ?? []].flat(); // the first of its checks; the others are not about the token
    if (authorize === undefined) throw new TypeError('Cannot measure: the report must check the token first');
    app.get(guardedPath, { onRequest: authorize }, async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(reportPage),
    );
  });
});

const port = await freePort();
const config = readConfig({ DATABASE_URL: process.env.DATABASE_URL, PORT: String(port) });
const store = await openReadyStore(config, (error) => console.error(error.message));
await insertTenant(store, 'bench', nowSeconds());
const tenant = await requireTenant(store, 'bench');
const clients = await Promise.all(
  Array.from({ length: clientCount }, () => createClient(store, nowSeconds(), { tenant })),
);
await serve(config, store, createLogger(config.LOG_LEVEL));
announceServer({ port, tokenPath: operations.issueToken.path, clients });
