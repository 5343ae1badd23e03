import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AuthContext } from '../auth/auth-context.ts';
import { loadAuthKeys } from '../auth/auth-keys.ts';
import { createAuthorizer } from '../auth/authorize.ts';
import { createFailureBudget } from '../auth/failure-budget.ts';
import { buildOpenApi } from '../contract/openapi.ts';
import { apiPath, operations } from '../contract/operations.ts';
import { buildServer } from '../http/server.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import { CommandError } from './error.ts';
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
  const auth: AuthContext = {
    store,
    keys: await loadAuthKeys(store, nowSeconds()),
    failures: createFailureBudget(config.TOKEN_FAILURES_PER_MINUTE, nowSeconds),
    now: nowSeconds,
    settings: {
      issuer: publicUrl,
      audience: `${publicUrl}${apiPath}`,
      accessTokenSeconds: config.ACCESS_TOKEN_SECONDS,
      refreshTokenSeconds: config.REFRESH_TOKEN_SECONDS,
      refreshFamilySeconds: config.REFRESH_FAMILY_SECONDS,
      refreshGraceSeconds: config.REFRESH_GRACE_SECONDS,
    },
  };
  const authorize = createAuthorizer(auth);
  let draining = false;
  const app = await buildServer({
    auth,
    report: { store, limits, now: nowSeconds, reportUrl: publicUrl + operations.listSubscriptions.path },
    authorize: (header) => authorize(header, 'subscription:read'),
    isDraining: () => draining,
    checkReady: () => store.checkReady(),
    rateLimitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    exports: {
      max: config.EXPORTS_MAX,
      perClientMax: config.EXPORTS_PER_CLIENT_MAX,
      stallMs: config.EXPORT_STALL_SECONDS * 1000,
      durationMs: config.EXPORT_SECONDS_MAX * 1000,
    },
    openApi: buildOpenApi({ publicUrl, version: packageVersion, limits }),
    publicUrl,
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
