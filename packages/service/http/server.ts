import type { FastifyInstance } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import type { ProviderSignIn } from '../auth/provider/provider-sign-in.ts';
import { accessOf, type ResourceServer } from '../auth/verify/resource-server.ts';
import { addConsolePages, consoleIsBuilt } from './console/pages.ts';
import { bodyMsMax, buildBaseServer, type ListenerOptions } from './listener/base-server.ts';
import { addTurns, type FairQueue } from './listener/fair-queue.ts';
import { addHealthRoutes, type Readiness } from './listener/health.ts';
import { addHomeRoute } from './listener/home.ts';
import type { RateLimiter } from './listener/rate-limit.ts';
import { unknownPath } from './listener/send-error.ts';
import { addConsoleSessionRoutes } from './oauth/console-session.ts';
import { addMetadataRoutes, addTokenManagementRoutes, addTokenRoute } from './oauth/oauth-endpoints.ts';
import { addProviderSignIn } from './oauth/provider-sign-in.ts';
import { addDocsRoutes } from './reference/docs-routes.ts';
import {
  type AddSubscriptionRoutes,
  createSubscriptionRoutes,
  type SubscriptionRoutes,
} from './report/subscription.ts';

/** What the public server needs. */
interface ServerOptions extends Readiness, SubscriptionRoutes, ListenerOptions {
  readonly auth: AuthContext;
  readonly resourceServer: ResourceServer;
  readonly limiter: RateLimiter;
  readonly queue: FairQueue;
  readonly publicUrl: string;
  /** The identity provider at which people sign in to the console, if one is configured. */
  readonly provider: ProviderSignIn | undefined;
  /** Whether `/console` is served. */
  readonly hasConsole: boolean;
}

/** Builds the HTTP server; it does not listen yet. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const isHttps = options.publicUrl.startsWith('https:');
  const app = buildBaseServer({ ...options, isHttps, notFound: unknownPath, requestTimeoutMs: bodyMsMax });
  addTurns(app);
  const { limiter, queue, auth } = options;
  const addSubscriptionRoutes = createSubscriptionRoutes(options);
  addSubscriptionRoutes(app);
  addTokenRoute(app, { auth, limiter, queue });
  addTokenManagementRoutes(app, { auth, limiter, queue }, options.resourceServer);
  addMetadataRoutes(app, options.auth);
  addHealthRoutes(app, options);
  const { publicUrl, report } = options;
  const hasConsole = options.hasConsole && consoleIsBuilt();
  if (options.hasConsole) addConsoleApi(app, options, addSubscriptionRoutes);
  if (hasConsole) await addConsolePages(app, 'report');
  addHomeRoute(app, hasConsole);
  await addDocsRoutes(app, { listener: 'report', title: 'subreport: the API', publicUrl, limits: report.limits });
  return app;
}

/** Adds the sessions of the console, and the report operations for their clients. */
function addConsoleApi(
  app: FastifyInstance,
  { auth, limiter, queue, publicUrl, provider }: ServerOptions,
  addSubscriptionRoutes: AddSubscriptionRoutes,
): void {
  const signInMethods = provider === undefined ? (['secret'] as const) : (['secret', 'provider'] as const);
  const sessions = addConsoleSessionRoutes(app, { auth, limiter, queue, publicUrl, signInMethods });
  if (provider !== undefined) addProviderSignIn(app, { auth, limiter, provider, sessions, publicUrl });
  app.register(
    async (scope) => {
      scope.addHook('onSend', async (_request, reply) => {
        // the browser may be shared: nothing of a session stays in its cache
        reply.header('cache-control', 'no-store').removeHeader('vary');
      });
      addSubscriptionRoutes(scope, (request, reply) =>
        sessions.use(request, reply).then(({ holder }) => accessOf(holder)),
      );
    },
    { prefix: '/console' },
  );
}
