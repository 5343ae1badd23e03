import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AuthContext } from '../auth/auth-context.ts';
import { createExternalIssuer, type ExternalIssuer } from '../auth/external-issuer.ts';
import { createFailureBudget } from '../auth/failure-budget.ts';
import { createFamilyLimit } from '../auth/family-limit.ts';
import { openKeyRing } from '../auth/key-ring.ts';
import { createResourceServer } from '../auth/resource-server.ts';
import { buildOpenApi } from '../contract/openapi.ts';
import { apiPath, operations } from '../contract/operations.ts';
import { buildServer } from '../http/server.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import { CommandError } from './error.ts';
import { keyRingOptions } from './key-ring-options.ts';
import { packageVersion } from './package-version.ts';
import { nowSeconds } from './store-session.ts';

/** A service that listens. */
export interface RunningService {
  readonly app: FastifyInstance;
  /** Tells `/readyz` and every answer that this process is on its way out. */
  readonly drain: () => void;
}

/** Builds the service from its settings and an open store, and listens: all wiring is on this screen. */
export async function serve(config: Config, store: Store, logger: Logger): Promise<RunningService> {
  const { publicUrl, limits } = config;
  store.watch();
  const auth: AuthContext = {
    store,
    keys: await openKeyRing(keyRingOptions(config, store)),
    families: createFamilyLimit(config.REFRESH_FAMILIES_MAX),
    failures: createFailureBudget(config.TOKEN_FAILURES_PER_MINUTE, nowSeconds),
    now: nowSeconds,
    settings: {
      issuer: publicUrl,
      audience: `${publicUrl}${apiPath}`,
      accessTokenSeconds: config.ACCESS_TOKEN_SECONDS,
      refreshTokenSeconds: config.REFRESH_TOKEN_SECONDS,
      refreshFamilySeconds: config.REFRESH_FAMILY_SECONDS,
      refreshGraceSeconds: config.REFRESH_GRACE_SECONDS,
      keycloakMembers: config.KEYCLOAK_MEMBERS === 'true',
    },
  };
  const resourceServer = createResourceServer(auth, openExternalIssuer(config, logger));
  let draining = false;
  const app = await buildServer({
    auth,
    report: { store, limits, now: nowSeconds, reportUrl: publicUrl + operations.listSubscriptions.path },
    resourceServer,
    authorize: (header) => resourceServer.authorize(header, 'subscription:read'),
    isDraining: () => draining,
    checkReady: () => store.checkReady(),
    pageCacheBytes: config.PAGE_CACHE_MIB * 1_048_576,
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    openApi: buildOpenApi({ publicUrl, version: packageVersion, limits }),
    publicUrl,
    trustedProxies: config.TRUSTED_PROXIES,
    logger,
  });
  await listen(app, config);
  return {
    app,
    drain: () => {
      draining = true;
    },
  };
}

/** The external issuer of the settings, whose keys are read while the service starts; a start does not wait for others. */
function openExternalIssuer({ external }: Config, logger: Logger): ExternalIssuer | undefined {
  if (external === undefined) return undefined;
  const { issuer } = external;
  const opened = createExternalIssuer(external, {
    now: nowSeconds,
    onFault: (error) =>
      logger.warn(
        { err: error, issuer },
        'the keys of the external issuer cannot be read; those read before stay in use',
      ),
  });
  void opened.prepare();
  return opened;
}

async function listen(app: FastifyInstance, { HOST: host, PORT: port }: Config): Promise<void> {
  try {
    await app.listen({ host, port, listenTextResolver: () => 'listening' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = {
      EADDRINUSE: 'the port must be free; stop what uses it, or set PORT to another one',
      EACCES: 'this user must be allowed to use the port; set PORT to one above 1023',
      EADDRNOTAVAIL: 'HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0',
      ENOTFOUND: 'HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0',
    }[code ?? ''];
    if (remedy === undefined) throw error;
    throw new CommandError(`Cannot listen on ${host}:${port}: ${remedy} (${code})`);
  }
}
