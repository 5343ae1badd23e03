import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import type { OperatorSessions } from '../../auth/sessions/session-holder.ts';
import type { OperatorGate } from '../../auth/verify/authorize-operator.ts';
import { addConsolePages, consoleIsBuilt } from '../console/pages.ts';
import { bodyMsMax, buildBaseServer, type ListenerOptions } from '../listener/base-server.ts';
import { addHealthRoutes, type Readiness } from '../listener/health.ts';
import { addHomeRoute } from '../listener/home.ts';
import { discardBody, limitBody } from '../listener/read-body.ts';
import { addDocsRoutes } from '../reference/docs-routes.ts';
import { addOperatorSessionRoutes } from './console-session.ts';
import {
  authorizeLoad,
  authorizeOperatorLoad,
  createLoadRoute,
  type LoadAuthorization,
  type LoadRoute,
} from './load-subscriptions.ts';
import { addMetricsRoute } from './metrics-route.ts';
import { operatorTokenRoutes, type ServiceState, serviceRoutes, storeRoutes } from './operator-handlers.ts';
import type { AuthorizeOperator } from './operator-request.ts';
import { addOperatorRoutes, type OperatorRoutes } from './operator-routes.ts';

/** What the management listener needs. */
interface ManagementOptions
  extends Readiness,
    LoadRoute,
    LoadAuthorization,
    OperatorRoutes,
    ServiceState,
    ListenerOptions {
  readonly publicUrl: string;
  readonly keyRing: KeyRingOptions;
  /** Checks the `Authorization` header of an operator. */
  readonly operatorGate: OperatorGate;
  readonly operatorSessions: OperatorSessions;
  /** Time limit for receiving a request that loads no records; `bodyMsMax` if absent. */
  readonly bodyMs?: number;
  /** URL at which operators reach this listener, if it is configured. */
  readonly managementUrl?: string | undefined;
  /** Further names of this listener. */
  readonly allowedHosts: readonly string[];
  /** Whether the operator's console is served at `/console`. */
  readonly hasConsole: boolean;
  /** Writes the metrics of all processes; `undefined` if they cannot be collected. */
  readonly renderMetrics: () => Promise<string | undefined>;
}

/** Builds the HTTP server of the management listener; it does not listen yet. */
export async function buildManagementServer(options: ManagementOptions): Promise<FastifyInstance> {
  // a load takes as long as its client sends records
  const { managementUrl, bodyPace } = options;
  const isHttps = options.tls !== undefined || managementUrl?.startsWith('https:') === true;
  // over TLS, the certificate already belongs to one name
  const hosts = options.tls === undefined && { allowsHost: createHostList(options) };
  const app = buildBaseServer({ ...options, ...hosts, isHttps, notFound: unknownPath, requestTimeoutMs: 0 });
  const bodyMs = options.bodyMs ?? bodyMsMax;
  const loads = ({ load }: FastifyRequest): boolean => load != null;
  app.addHook('onRequest', (request, reply, done) => {
    limitBody(request, reply, bodyMs, () => loads(request));
    done();
  });
  // a client that was refused early may never end its body
  app.addHook('onResponse', async (request) => {
    discardBody(request.raw, loads(request) ? bodyPace.stallMs : bodyMs);
  });
  addHealthRoutes(app, options);
  const groups = [...storeRoutes(options.keyRing), serviceRoutes(options)];
  const addLoadRoute = createLoadRoute(options);
  const byToken: AuthorizeOperator = ({ headers, ip }, scope) =>
    options.operatorGate.authorize(headers.authorization, scope, ip);
  addLoadRoute(app, (request, tenant) => authorizeLoad(options, byToken, request, tenant));
  await addOperatorRoutes(app, options, byToken, [...groups, operatorTokenRoutes()]);
  addMetricsRoute(app, options.renderMetrics);
  if (options.hasConsole) {
    const bySession = addOperatorSessionRoutes(app, options, isHttps);
    const addConsoleApi = async (scope: FastifyInstance): Promise<void> => {
      addLoadRoute(scope, (request, tenant) => authorizeOperatorLoad(options.store, bySession, request, tenant));
      await addOperatorRoutes(scope, options, bySession, [...groups, operatorTokenRoutes(options.operatorGate)]);
    };
    await app.register(addConsoleApi, { prefix: '/console' });
  }
  const hasConsole = options.hasConsole && consoleIsBuilt();
  if (hasConsole) await addConsolePages(app, 'operator');
  const { publicUrl } = options;
  await addDocsRoutes(app, { listener: 'operator', title: 'subreport: the operator', publicUrl });
  addHomeRoute(app, hasConsole);
  return app;
}

/**
 * Makes the check of a name in the header `Host`. A page of another site whose name resolves to
 * this listener (DNS rebinding) must not read what needs no token, such as `/metrics`. An address
 * is not a name of another site.
 */
function createHostList({ managementUrl, allowedHosts }: ManagementOptions): (name: string) => boolean {
  const own = managementUrl === undefined ? [] : [new URL(managementUrl).hostname];
  const names = new Set(['localhost', ...own, ...allowedHosts.map((name) => name.toLowerCase())]);
  return (name) => names.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

const unknownPath =
  'Cannot find the resource: the path must be one of those in /openapi.json, which /docs shows; reports are served at the public URL';
