import accepts from '@fastify/accepts';
import type { FastifyInstance } from 'fastify';
import type { KeyRingOptions } from '../../auth/key-ring-options.ts';
import { operatorOperations } from '../../contract/operator-operations.ts';
import { addConsolePages, consoleIsBuilt } from '../console/pages.ts';
import { type BaseServerOptions, buildBaseServer } from '../listener/base-server.ts';
import { addDocsRoutes } from '../listener/docs.ts';
import { addHealthRoutes, type Readiness } from '../listener/health.ts';
import { addHomeRoute } from '../listener/home.ts';
import { operatorLinks } from '../listener/home-links.ts';
import { createUnroutedHandler } from '../listener/method-not-allowed.ts';
import { discardBody } from '../listener/read-body.ts';
import { traceRequests } from '../listener/tracing.ts';
import { addAuditRoutes } from './audit.ts';
import { addClientRoutes } from './clients.ts';
import { addImportRoutes } from './imports.ts';
import { keyRoutes } from './keys.ts';
import { addLoadRoute, type LoadRoute } from './load-subscriptions.ts';
import { addMetricsRoute } from './metrics.ts';
import { addOperatorRoutes, type OperatorRoutes } from './operator-routes.ts';
import { addOperatorTokenRoutes } from './operators.ts';
import { type ServiceState, serviceRoutes } from './service.ts';
import { addTenantRoutes } from './tenants.ts';

/** What the management listener needs. */
interface ManagementOptions
  extends Readiness,
    LoadRoute,
    OperatorRoutes,
    ServiceState,
    Pick<
      BaseServerOptions,
      'connectionsPerAddressMax' | 'logger' | 'trustedProxies' | 'requestMs' | 'observe' | 'tls'
    > {
  readonly openApi: object;
  readonly keyRing: KeyRingOptions;
  /** Whether the operator's console is served at `/console`. */
  readonly hasConsole: boolean;
  /** Writes the metrics of all processes; `undefined` if they cannot be collected. */
  readonly renderMetrics: () => Promise<string | undefined>;
}

/** Builds the HTTP server of the management listener; it does not listen yet. */
export async function buildManagementServer(options: ManagementOptions): Promise<FastifyInstance> {
  // a load takes as long as its client sends records
  const app = buildBaseServer({ ...options, isHttps: options.tls !== undefined, handleUnrouted, requestTimeoutMs: 0 });
  traceRequests(app.server, options.tls === undefined ? 'http' : 'https');
  // a client that was refused early may never end its body
  app.addHook('onResponse', async ({ raw }) => discardBody(raw, options.bodyStallMs));
  await app.register(accepts);
  addHealthRoutes(app, options);
  addLoadRoute(app, options);
  await addOperatorRoutes(app, options, [
    addTenantRoutes,
    addClientRoutes,
    keyRoutes(options.keyRing),
    addImportRoutes,
    serviceRoutes(options),
    addOperatorTokenRoutes,
    addAuditRoutes,
  ]);
  addMetricsRoute(app, options.renderMetrics);
  const hasConsole = options.hasConsole && consoleIsBuilt();
  if (hasConsole) await addConsolePages(app, 'operator');
  await addDocsRoutes(app, { openApi: options.openApi, title: 'subreport: the operator' });
  addHomeRoute(app, {
    title: "subreport: the operator's API",
    summary: 'This listener is for the operator. Reports are served at the public URL.',
    baseUrl: '',
    links: operatorLinks(hasConsole),
  });
  return app;
}

const handleUnrouted = createUnroutedHandler(
  operatorOperations,
  'Cannot find the resource: the path must be one of those in /openapi.json, which /docs shows; reports are served at the public URL',
);
