import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { bodyMsMax, buildBaseServer } from '../../http/listener/base-server.ts';
import { addHealthRoutes } from '../../http/listener/health.ts';
import { unknownPath } from '../../http/listener/send-error.ts';
import type { ListenerTls } from '../../http/listener/tls.ts';
import { isTemporary } from '../../storage/error.ts';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';
import { listenOnBoth } from '../listen.ts';
import { openCertificates } from '../settings/certificates.ts';

const retryMs = 1_000;

/**
 * Opens a store that could not be opened for a reason that may pass: the database starts later than
 * the service, its name does not resolve yet, the disk is full. Until then, `/healthz` returns 200
 * and every other request 503, as for a database that is lost while the service is running.
 */
export async function waitForStore(
  config: Config,
  logger: Logger,
  open: () => Promise<Store>,
  reason: unknown,
): Promise<Store> {
  if (!isTemporary(reason)) throw reason;
  let error = reason;
  const close = await listenWithoutStore(config, logger, () => Promise.reject(error));
  // otherwise the first process of a container ignores signals
  const end = (): never => process.exit(0);
  process.once('SIGTERM', end).once('SIGINT', end);
  try {
    for (let told: string | undefined; ; await sleep(retryMs)) {
      const { message } = error;
      if (message !== told) logger.warn({ reason: message }, 'the database is not available yet; trying again');
      told = message;
      try {
        return await open();
      } catch (next) {
        if (!isTemporary(next)) throw next;
        error = next;
      }
    }
  } finally {
    process.off('SIGTERM', end).off('SIGINT', end);
    await close();
  }
}

/** Listens as the service does; every request that needs the store fails. */
async function listenWithoutStore(config: Config, logger: Logger, fail: () => Promise<never>) {
  const certificates = openCertificates(config, logger);
  const isDraining = (): boolean => false;
  const build = (tls: ListenerTls | undefined) => {
    const app = buildBaseServer({
      ...{ logger, tls, isDraining, notFound: unknownPath, requestTimeoutMs: bodyMsMax },
      isHttps: config.publicUrl.startsWith('https:'),
      requestMs: config.REQUEST_SECONDS_MAX * 1000,
      trustedProxies: config.TRUSTED_PROXIES,
      connectionsPerAddressMax: config.fixed.connectionsPerAddressMax,
    });
    addHealthRoutes(app, { isDraining, checkReady: fail });
    app.all('/*', fail);
    return app;
  };
  const app = build(certificates.public);
  const management = config.MANAGEMENT_PORT > 0 ? build(certificates.management) : undefined;
  management?.get(operatorOperations.getMetrics.path, async () => 'subreport_ready 0\n');
  await listenOnBoth(app, management, config, false);
  return async (): Promise<void> => {
    certificates.close();
    await Promise.all([app.close(), management?.close()]);
  };
}
