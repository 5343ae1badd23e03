import type { Logger } from 'pino';
import { operations } from '../../../contract/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import type { Config } from '../config.ts';
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

/**
 * Throws `UsageError` if clients on other machines would send secrets over plain http and the
 * operator has not allowed it.
 */
export function requireSecureTransport({ publicUrl, ALLOW_HTTP }: Config): void {
  if (!isOpenHttp(publicUrl) || ALLOW_HTTP === 'true') return;
  throw new UsageError(
    `Cannot serve under PUBLIC_URL: it must start with https:// for clients on other machines, as http sends tokens and secrets unencrypted (RFC 6749 section 10.9); set TLS_CERT_FILE, or use a proxy with TLS, and set PUBLIC_URL to the URL of clients, or set ALLOW_HTTP=true on a trusted network: current value is '${publicUrl}'`,
  );
}

/** Logs a warning for each listener that other machines can reach over plain http. */
function warnOfOpenTransport(config: Config, logger: Logger): void {
  const { publicUrl, MANAGEMENT_HOST, MANAGEMENT_PORT, MANAGEMENT_TLS_CERT_FILE } = config;
  if (isOpenHttp(publicUrl)) {
    logger.warn(
      { public_url: publicUrl },
      'PUBLIC_URL is http: tokens and secrets are sent unencrypted (RFC 6749 section 10.9); set TLS_CERT_FILE, or use a proxy with TLS and set PUBLIC_URL to https',
    );
  }
  if (MANAGEMENT_PORT > 0 && MANAGEMENT_TLS_CERT_FILE === '' && !isLoopbackHost(MANAGEMENT_HOST)) {
    logger.warn(
      { management_host: MANAGEMENT_HOST },
      "MANAGEMENT_HOST is reachable from other machines: the operator's API is plain http, so tokens and records are sent unencrypted; restrict it to a trusted network, set MANAGEMENT_TLS_CERT_FILE, or use a proxy with TLS",
    );
  }
}

const isLoopback = (url: string): boolean => isLoopbackHost(new URL(url).hostname);

const isLoopbackHost = (host: string): boolean => ['127.0.0.1', 'localhost', '::1', '[::1]'].includes(host);

const isOpenHttp = (url: string): boolean => url.startsWith('http://') && !isLoopback(url);

/**
 * Returns a warning if the database is reached over a network without verified TLS, otherwise
 * `undefined`.
 */
export function databaseWarning(databaseUrl: string | undefined): string | undefined {
  if (databaseUrl === undefined) return undefined;
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const isHere = host === '' || host.startsWith('/') || host === 'localhost' || host === '[::1]' || /^127\./.test(host);
  if (isHere || searchParams.get('sslmode') === 'verify-full') return undefined;
  return `DATABASE_URL refers to another machine without sslmode=verify-full: anyone on the network path can read and change records and the database password; add it, and sslrootcert for a private certificate authority (docs/operators/operating.md, TLS to PostgreSQL): current host is '${host}'`;
}
