import type { Logger } from 'pino';
import { operations } from '../contract/operations.ts';
import type { Store } from '../storage/store.ts';
import { hasClients } from '../storage/tables/client.ts';
import { findFirstTenant } from '../storage/tables/tenant.ts';
import { isLoopback, warnOfOpenTransport } from './check-transport.ts';
import type { Config } from './config.ts';
import { databaseWarning } from './database-warning.ts';
import { type DemoClient, demoFile } from './demo-client.ts';
import { demoText } from './demo-text.ts';
import { logsText } from './logger.ts';
import { type Output, writeResult } from './output.ts';

interface Announcement {
  readonly config: Config;
  readonly store: Store;
  readonly demo: DemoClient | undefined;
  readonly json: boolean;
  readonly workers: number;
}

/** Says that the service is running, where, and what the operator should do next. */
export async function announce(
  { config, store, demo, json, workers }: Announcement,
  logger: Logger,
  output: Output,
): Promise<void> {
  warnOfSettings(config, logger);
  const { publicUrl, CONSOLE, MANAGEMENT_HOST, MANAGEMENT_PORT } = config;
  const places = {
    report: publicUrl + operations.listSubscriptions.path,
    token: publicUrl + operations.issueToken.path,
    ...(CONSOLE === 'true' && { console: `${publicUrl}/console` }),
    docs: `${publicUrl}/docs`,
  };
  const management = MANAGEMENT_PORT > 0 && { management: `${MANAGEMENT_HOST}:${MANAGEMENT_PORT}` };
  const identity = demo !== undefined && { tenant: demo.tenant, client_id: demo.client_id };
  const file = demo !== undefined && { client_file: demoFile(config) };
  // the secret goes to a person's terminal only, never to a log
  const isForPerson = output.stdout.isTTY === true && logsText(config);
  if (demo !== undefined && (json || isForPerson))
    writeResult(output, json, { ...places, ...identity }, demoText(demo, config));
  else logger.info({ ...places, ...management, ...(workers > 1 && { workers }), ...identity, ...file }, 'serving');
  await logNextStep(store, logger);
}

function warnOfSettings(config: Config, logger: Logger): void {
  const { publicUrl } = config;
  warnOfOpenTransport(config, logger);
  const warning = databaseWarning(config.DATABASE_URL);
  if (warning !== undefined) logger.warn(warning);
  if (config.KEY_ENCRYPTION_SECRET === undefined && isProduction(config)) {
    logger.warn(
      'KEY_ENCRYPTION_SECRET is not set: the keys that sign tokens are stored unencrypted, and anyone who can read the database or a backup can issue tokens; set it to the output of openssl rand -base64 32',
    );
  }
  if (publicUrl.startsWith('https://') && config.TLS_CERT_FILE === '' && config.TRUSTED_PROXIES.length === 0) {
    logger.warn(
      'TRUSTED_PROXIES is not set, but PUBLIC_URL is https, which requires a proxy: all clients behind the proxy count as one address, so failed attempts of one client can block the others; set it to the addresses of the proxy',
    );
  }
}

/** Whether the service has real clients: on other machines, or with a database server. */
const isProduction = ({ publicUrl, DATABASE_URL }: Config): boolean =>
  DATABASE_URL !== undefined || !isLoopback(publicUrl);

/** Logs the commands that are left to run before a client can read a report. */
async function logNextStep(store: Store, logger: Logger): Promise<void> {
  try {
    const tenant = await findFirstTenant(store);
    if (tenant === undefined)
      logger.info(
        'there is no tenant yet; the next commands are: subreport tenant create acme, subreport import FILE --tenant acme, subreport client create --tenant acme',
      );
    else if (!(await hasClients(store)))
      logger.info(`there is no client yet; the next command is: subreport client create --tenant ${tenant}`);
  } catch (error) {
    logger.warn({ err: error }, 'the tenants cannot be read');
  }
}
