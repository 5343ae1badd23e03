import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AuthContext } from '../auth/auth-context.ts';
import { openKeyRing } from '../auth/key-ring.ts';
import { createResourceServer } from '../auth/resource-server.ts';
import { buildOpenApi } from '../contract/openapi.ts';
import { apiPath, operations } from '../contract/operations.ts';
import { buildServer } from '../http/server.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import { type Counters, createCounters } from './counters.ts';
import { keyRingOptions } from './key-ring-options.ts';
import { listenFailure } from './listen-failure.ts';
import { packageVersion } from './package-version.ts';
import { nowSeconds } from './store-session.ts';

/** A service that listens. */
export interface RunningService {
  readonly app: FastifyInstance;
  /** Tells `/readyz` and every answer that this process is on its way out. */
  readonly drain: () => void;
}

/** How this process shares its work with others. */
export interface ServeOptions {
  readonly counters: Counters;
  /** Whether other processes may listen on the same port (`SO_REUSEPORT`). */
  readonly reusePort: boolean;
}

/** Builds the service from its settings and an open store, and listens: all wiring is on this screen. */
export async function serve(
  config: Config,
  store: Store,
  logger: Logger,
  { counters: { failures, requests }, reusePort }: ServeOptions = {
    counters: createCounters(config),
    reusePort: false,
  },
): Promise<RunningService> {
  const { publicUrl, limits } = config;
  store.watch();
  const auth: AuthContext = {
    store,
    keys: await openKeyRing(keyRingOptions(config, store)),
    failures,
    now: nowSeconds,
    settings: {
      issuer: publicUrl,
      audience: `${publicUrl}${apiPath}`,
      accessTokenSeconds: config.ACCESS_TOKEN_SECONDS,
      refreshTokenSeconds: config.REFRESH_TOKEN_SECONDS,
      refreshFamilySeconds: config.REFRESH_FAMILY_SECONDS,
      refreshGraceSeconds: config.REFRESH_GRACE_SECONDS,
      refreshFamiliesMax: config.REFRESH_FAMILIES_MAX,
      keycloakMembers: config.KEYCLOAK_MEMBERS === 'true',
    },
  };
  const resourceServer = createResourceServer(auth);
  let draining = false;
  const app = await buildServer({
    auth,
    report: { store, limits, reportUrl: publicUrl + operations.listSubscriptions.path },
    resourceServer,
    authorize: (header) => resourceServer.authorize(header, 'subscription:read'),
    isDraining: () => draining,
    checkReady: () => store.checkReady(),
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    requests,
    openApi: buildOpenApi({ publicUrl, version: packageVersion, limits }),
    publicUrl,
    logger,
  });
  const place = { host: config.HOST, port: config.PORT, reusePort }; // Node's own option, which Fastify's types do not know
  await app.listen({ ...place, listenTextResolver: () => 'listening' }).catch((error: unknown) => {
    throw listenFailure(error, config);
  });
  return {
    app,
    drain: () => {
      draining = true;
    },
  };
}
