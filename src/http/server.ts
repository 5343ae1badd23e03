import accepts from '@fastify/accepts';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import type { ResourceServer } from '../auth/resource-server.ts';
import { addConsoleRoutes, consoleIsBuilt } from './console.ts';
import { type BaseServerOptions, buildBaseServer } from './listener/base-server.ts';
import { addDocsRoutes } from './listener/docs.ts';
import { addForwardedWarning } from './listener/forwarded-warning.ts';
import { addHealthRoutes, type Readiness } from './listener/health.ts';
import { addHomeRoute } from './listener/home.ts';
import { publicLinks } from './listener/home-links.ts';
import { handleUnrouted } from './listener/method-not-allowed.ts';
import { addRateLimitHeaders, type RequestCounter, rateLimitOptions } from './listener/rate-limit.ts';
import { createRepeatedRequests, installRepeatedRequests } from './listener/repeated-requests.ts';
import { addMetadataRoutes } from './oauth/metadata.ts';
import { addTokenRoute } from './oauth/token.ts';
import { addTokenManagementRoutes } from './oauth/token-management.ts';
import { addSubscriptionRoutes, type SubscriptionRoutes } from './report/subscription.ts';

/** What the public server needs. */
interface ServerOptions
  extends Readiness,
    SubscriptionRoutes,
    Pick<BaseServerOptions, 'connectionsPerAddressMax' | 'logger' | 'trustedProxies' | 'requestMs' | 'observe'> {
  readonly auth: AuthContext;
  readonly resourceServer: ResourceServer;
  /** Counts the requests of each client if `rateLimitPerMinute` limits them. */
  readonly requests: RequestCounter;
  readonly openApi: object;
  readonly publicUrl: string;
  /** Whether `/console` is served. */
  readonly hasConsole: boolean;
}

/**
 * Time limit for receiving a whole request in milliseconds; enforced once a second, before the
 * request's deadline.
 */
export const bodyMsMax = 6_000;

/** Builds the HTTP server; it does not listen yet. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const isHttps = options.publicUrl.startsWith('https:');
  const app = buildBaseServer({ ...options, isHttps, handleUnrouted, requestTimeoutMs: bodyMsMax });
  addForwardedWarning(app);
  await app.register(accepts);
  if (options.rateLimitPerMinute > 0) {
    await app.register(rateLimit, { global: false, ...rateLimitOptions(options.rateLimitPerMinute, options.requests) });
    app.addHook('onSend', addRateLimitHeaders);
  }
  const { logger, isDraining, report, observe } = options;
  const { store, now } = report;
  // a rate limit must count every request, so none may be answered before its route
  const repeated =
    options.rateLimitPerMinute > 0 ? undefined : createRepeatedRequests({ store, logger, now, isDraining, observe });
  if (repeated !== undefined) installRepeatedRequests(app.server, repeated);
  addSubscriptionRoutes(app, options, repeated);
  addTokenRoute(app, options.auth);
  addTokenManagementRoutes(app, options.auth, options.resourceServer);
  addMetadataRoutes(app, options.auth);
  addHealthRoutes(app, options);
  const { openApi, publicUrl } = options;
  const hasConsole = options.hasConsole && consoleIsBuilt();
  if (hasConsole) await addConsoleRoutes(app);
  addHomeRoute(app, {
    title: 'subreport',
    summary: 'A reporting service for data subscriptions. Reports require an access token.',
    baseUrl: publicUrl,
    links: publicLinks(hasConsole),
  });
  await addDocsRoutes(app, { openApi, title: 'subreport: the API' });
  return app;
}
