import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { operations } from '../../../contract/operations.ts';
import { isOnThisMachine } from '../../../contract/secure-url.ts';
import { privacyFault, readDatabaseUrl } from '../../../outgoing/database.ts';
import { UsageError } from '../../../terminal/error.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import type { Config } from '../config.ts';
import { hostInUrl } from '../settings/setting.ts';
import { everyAddress, schemeOf } from '../settings/tls-settings.ts';
import { type DemoClient, demoFile, demoText } from './demo.ts';

interface Announcement {
  readonly config: Config;
  readonly demo: DemoClient | undefined;
  readonly json: boolean;
  readonly workers: number;
}

/** Says that the service is running, and where. */
export function announce({ config, demo, json, workers }: Announcement, logger: Logger, output: Output): void {
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
  const isForPerson = output.stdout.isTTY === true;
  if (demo !== undefined && (json || isForPerson))
    writeResult(output, json, { ...places, ...identity }, demoText(demo, config));
  else logger.info({ ...places, ...management, ...(workers > 1 && { workers }), ...identity, ...file }, 'serving');
}

function warnOfSettings(config: Config, logger: Logger): void {
  const files = openFilesMax();
  if (files < openFilesMin)
    logger.warn(
      { open_files: files },
      `this process may open few files: it resets further connections, which leaves no line here; allow it ${openFilesMin} or more (ulimit -n, LimitNOFILE)`,
    );
  const { publicUrl } = config;
  for (const { name, value, remedy } of openListeners(config))
    logger.warn(
      { [name.toLowerCase()]: value },
      `${name} lets other machines use http: tokens and secrets are sent unencrypted (RFC 6749 section 10.9); ${remedy}`,
    );
  const warning = databaseWarning(config.DATABASE_URL);
  if (warning !== undefined) logger.warn(warning);
  if (config.KEY_ENCRYPTION_SECRET === undefined && isProduction(config)) {
    logger.warn(
      'KEY_ENCRYPTION_SECRET is not set: the keys that sign tokens are stored unencrypted, and anyone who can read the database or a backup can issue tokens; set it to the output of openssl rand -base64 32',
    );
  }
  if (config.PUBLIC_URL === undefined && everyAddress.includes(config.HOST)) {
    logger.warn(
      { public_url: publicUrl },
      'PUBLIC_URL is not set: links in responses lead clients on other machines to themselves; set it to the URL at which they reach the service',
    );
  }
  if (publicUrl.startsWith('https://') && config.TLS_CERT_FILE === '' && config.TRUSTED_PROXIES.length === 0) {
    logger.warn(
      'TRUSTED_PROXIES is not set, but PUBLIC_URL is https, which requires a proxy: all clients behind the proxy count as one address, so failed attempts of one client can block the others; set it to the addresses of the proxy',
    );
  }
}

/** Open files that ordinary use needs: the usual limit of a process. */
const openFilesMin = 1_024;

/** The limit of open files of this process, which only Linux tells without a report. */
const openFilesMax = (): number =>
  process.platform === 'linux'
    ? Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? openFilesMin)
    : openFilesMin;

/** Whether the service has real clients: on other machines, or with a database server. */
const isProduction = ({ HOST, publicUrl, DATABASE_URL }: Config): boolean =>
  DATABASE_URL !== undefined || !isLoopback(HOST) || !isOnThisMachine(publicUrl);

const isLoopback = (host: string): boolean => isOnThisMachine(`http://${hostInUrl(host)}`);

/**
 * Throws `UsageError` if other machines could use a listener over plain http, and the operator has
 * not allowed it.
 */
export function requireSecureTransport(config: Config): void {
  if (config.ALLOW_HTTP === 'true') return;
  const faults = openListeners(config).map(
    ({ name, value, remedy }) =>
      `Cannot serve with ${name}: other machines must use https, as http sends tokens and secrets unencrypted (RFC 6749 section 10.9); ${remedy}, or set ALLOW_HTTP=true on a trusted network: current value is '${value}'`,
  );
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
}

/** The settings by which other machines use a listener over plain http. */
function openListeners(config: Config) {
  const prefixes = config.MANAGEMENT_PORT > 0 ? (['', 'MANAGEMENT_'] as const) : ([''] as const);
  return prefixes.flatMap((prefix) => {
    const url = prefix === '' ? 'PUBLIC_URL' : 'MANAGEMENT_URL';
    const told = config[url] ?? '';
    const isOpenUrl = told.startsWith('http:') && !isOnThisMachine(told);
    const isBoundSafely = isLoopback(config[`${prefix}HOST`]) || schemeOf(config, prefix) === 'https';
    if (!isOpenUrl && (isBoundSafely || told.startsWith('https:'))) return [];
    const name = isOpenUrl ? url : (`${prefix}HOST` as const);
    const remedy = `set ${prefix}TLS_CERT_FILE, or use a proxy with TLS and set ${url} to its https URL`;
    return [{ name, value: config[name], remedy }];
  });
}

/**
 * Returns a warning if the database is reached over a network without verified TLS, otherwise
 * `undefined`.
 */
export function databaseWarning(databaseUrl = ''): string | undefined {
  const database = readDatabaseUrl(databaseUrl);
  if (database === undefined || privacyFault(database) === undefined) return undefined;
  return `DATABASE_URL refers to another machine without sslmode=verify-full: anyone on the network path can read and change records and the database password; add it, and sslrootcert for a private certificate authority (docs/operators/operating.md, TLS to PostgreSQL): current host is '${database.host}'`;
}
