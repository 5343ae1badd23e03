import { refreshTokenUses, signingAlgorithms } from '../../contract/oauth/grant.ts';
import { defaultPageLimits, type PageLimits } from '../../contract/report.ts';
import { didYouMean, suggestionsMax } from '../../contract/suggest.ts';
import { readDatabaseUrl } from '../../outgoing/database.ts';
import { commandVariables } from '../../terminal/environment.ts';
import { UsageError } from '../../terminal/error.ts';
import { hidePassword, readSecretFiles, strayFault } from '../../terminal/secret-files.ts';
import type { ExternalSettings } from '../auth/provider/external-claims.ts';
import type { ProviderSettings } from '../auth/provider/provider-sign-in.ts';
import {
  externalFaults,
  externalIssuerSettings,
  externalSettings,
  providerSettings,
} from './settings/external-issuer-settings.ts';
import { type FixedLimits, fixedLimits } from './settings/fixed-limits.ts';
import {
  host,
  hostNames,
  isRandomKey,
  networks,
  oneOf,
  type Setting,
  secret,
  text,
  url,
  wholeNumber,
} from './settings/setting.ts';
import { localUrl, schemeOf, tlsFaults, tlsSettings } from './settings/tls-settings.ts';

/**
 * All settings of the service, which are environment variables. No other file reads the
 * environment.
 */
export const settings = {
  HOST: host('0.0.0.0', 'Address to listen on'),
  PORT: wholeNumber(1, 65_535, 8080, 'Port to listen on'),
  MANAGEMENT_HOST: host(
    '10.0.0.5',
    "Address of the operator's API (docs/operators/operator.md); clients must not be able to reach it",
  ),
  MANAGEMENT_PORT: wholeNumber(0, 65_535, 9_464, "Port of the operator's API; 0 disables it"),
  MANAGEMENT_URL: url(
    ['https', 'http'],
    'https://reports-admin.example.com',
    "URL at which operators reach the operator's API through a proxy",
  ),
  MANAGEMENT_ALLOWED_HOSTS: hostNames(
    "Further names in the Host header of requests to the operator's API, in addition to IP addresses, localhost, MANAGEMENT_HOST and the name in MANAGEMENT_URL",
  ),
  ...tlsSettings,
  PUBLIC_URL: url(
    ['https', 'http'],
    'https://reports.example.com',
    'URL at which clients reach the service. Links start with it, and it is the issuer of tokens. If unset, http://HOST:PORT, or https with TLS_CERT_FILE',
  ),
  ALLOW_HTTP: oneOf(
    ['true', 'false'],
    'false',
    'Whether clients on other machines may use plain http, which exposes tokens and secrets',
  ),
  CONSOLE: oneOf(['true', 'false'], 'true', 'Whether the web console is served at /console of each listener'),
  DATA_DIR: text('./data', 'a directory, such as /var/lib/subreport', 'Directory of the SQLite database (mode 0700)'),
  DATABASE_URL: secret(
    (text) => URL.canParse(text) && readDatabaseUrl(text) !== undefined,
    'a URL that starts with postgres:// or postgresql://, such as postgres://subreport:secret@db.example.com:5432/subreport, with special characters of its password percent-encoded',
    'PostgreSQL database to use instead of SQLite',
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 500, 10, 'Maximum number of connections to PostgreSQL'),
  REQUEST_SECONDS_MAX: wholeNumber(
    1,
    60,
    7,
    'Maximum time that a request waits for the database, in total; after that it receives 503',
  ),
  SPOOL_MAX_MIB: wholeNumber(
    1,
    1_048_576,
    1_024,
    'Maximum disk space in DATA_DIR for bodies of loads and standard input, until they are loaded, in MiB per process',
  ),
  MIGRATE_ON_START: oneOf(['true', 'false'], 'true', 'Whether commands migrate the schema before they start'),
  PAGE_SIZE_DEFAULT: wholeNumber(1, 10_000, defaultPageLimits.sizeDefault, 'Records per page if size is absent'),
  PAGE_SIZE_MAX: wholeNumber(1, 10_000, defaultPageLimits.sizeMax, 'Maximum size; larger values are rejected with 400'),
  FIRST_PAGE: oneOf(['0', '1'], '1', 'Number of the first page; 0 for clients that expect 0-based pages'),
  MEMORY_MAX_MIB: wholeNumber(
    0,
    1_048_576,
    0,
    'Memory of all processes together in MiB (docs/operators/operating.md, Memory); 0 means the limit of the container, or the memory of the machine',
  ),
  RATE_LIMIT_PER_MINUTE: wholeNumber(
    0,
    1_000_000,
    60_000,
    'Maximum report requests per minute and client; OAuth requests have a separate limit of the same size; 0 means no limit',
  ),
  EXPORTS_MAX: wholeNumber(
    1,
    1_000,
    4,
    'Maximum number of concurrent exports (all=true); each uses one connection to the database',
  ),
  ACCESS_TOKEN_SECONDS: wholeNumber(10, 86_400, 300, 'Lifetime of access tokens'),
  REFRESH_TOKEN_SECONDS: wholeNumber(10, 2_592_000, 1_800, 'Lifetime of an unused refresh token'),
  REFRESH_GRACE_SECONDS: wholeNumber(
    0,
    300,
    10,
    'Time within which a repeated refresh returns the same refresh token; 0 disables this',
  ),
  REFRESH_TOKEN_USE: oneOf(
    refreshTokenUses,
    'rotate',
    'What happens to a used refresh token: rotate invalidates it; reuse leaves it valid until it expires. A setting of the client takes precedence',
  ),
  SIGNING_ALGORITHM: oneOf(signingAlgorithms, 'ES256', 'Signature algorithm of new access tokens'),
  KEY_ENCRYPTION_SECRET: secret(
    isRandomKey,
    'at least 32 random bytes in base64, base64url or hexadecimal, such as the output of: openssl rand -base64 32; to replace an older value, set that one as KEY_ENCRYPTION_SECRET_BEFORE',
    'Secret that encrypts the private keys in the database; if unset, they are stored unencrypted',
  ),
  KEY_ENCRYPTION_SECRET_BEFORE: secret(
    (text) => text.length >= 32,
    'at least 32 characters',
    'The previous KEY_ENCRYPTION_SECRET, during a rotation: the next start re-encrypts the keys',
  ),
  KEY_ROTATION_DAYS: wholeNumber(
    0,
    3_650,
    90,
    'Days after which the running service rotates each key (docs/operators/keys.md); 0 disables it',
  ),
  TRUSTED_PROXIES: networks(
    'Proxies whose X-Forwarded-For header is trusted, so that limits count for the address of the client',
  ),
  TOMBSTONE_DAYS: wholeNumber(
    0,
    3_650,
    90,
    'Days for which the tombstone of a removed subscription is kept; older change tokens are rejected with 410; 0 keeps all tombstones',
  ),
  HISTORY_DAYS: wholeNumber(
    0,
    3_650,
    30,
    'Days for which former versions of records are kept (docs/readers/history.md), at most TOMBSTONE_DAYS; 0 keeps none',
  ),
  TENANT_STORAGE_MAX_MIB: wholeNumber(
    0,
    1_073_741_824,
    16_384,
    'Storage budget of each tenant in MiB (docs/decisions/storage.md#budget). Beyond it, the oldest history goes first, then loads are rejected; 0 means no limit',
  ),
  AUDIT_RETENTION_DAYS: wholeNumber(
    30,
    36_500,
    400,
    'Days for which entries of the audit log are kept (docs/operators/audit.md)',
  ),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(
    0,
    300,
    0,
    'Delay between the stop signal and refusing new connections, so that a load balancer notices the shutdown',
  ),
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Minimum level of log lines',
  ),
  AUDIT_FILE: text(
    '',
    'a file, such as /var/log/subreport/audit.log or /dev/stderr',
    'File to which commands append each of their entries of the audit log as a line of JSON (docs/operators/audit.md); if unset, the entries are only in the database',
  ),
  ...externalIssuerSettings,
} as const satisfies Record<string, Setting<unknown>>;

type Name = keyof typeof settings;
type Values = { readonly [N in Name]: (typeof settings)[N] extends Setting<infer T> ? T : never };

/** The validated settings, and values that are derived from several of them. */
export interface Config extends Values {
  /** `PUBLIC_URL`, or `http://HOST:PORT`, without a trailing slash. */
  readonly publicUrl: string;
  readonly limits: PageLimits;
  readonly fixed: FixedLimits;
  /** The `OIDC_` settings; `undefined` without `OIDC_ISSUER`. */
  readonly external: ExternalSettings | undefined;
  /** The `OIDC_CONSOLE_` settings; `undefined` without them. */
  readonly provider: ProviderSettings | undefined;
}

/** The settings that `NAME_FILE` can read from a file. */
const secretNames: readonly string[] = Object.entries(settings).flatMap(([name, setting]) =>
  'secret' in setting ? [name] : [],
);

/**
 * Reads and validates all settings. Throws a `UsageError` that lists every invalid value and every
 * unknown `SUBREPORT_…` variable.
 */
export function readConfig(variables: NodeJS.ProcessEnv = process.env): Config {
  const files = readSecretFiles(secretNames, variables);
  const environment = { ...variables, ...files.values };
  const faults = [...unknownNames(environment), ...files.faults];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const given = environment[name] || undefined;
    const stray = given && strayFault(given);
    values[name] = given === undefined ? setting.fallback : stray ? undefined : setting.read(given);
    if (stray) faults.push(`Cannot use ${name}: it ${stray}`);
    else if (values[name] === undefined && given !== undefined) {
      const shown = 'secret' in setting ? '' : `: current value is '${hidePassword(given)}'`;
      const subject = name in files.values ? `${name}_FILE: its content` : `${name}: it`;
      faults.push(`Cannot use ${subject} must be ${setting.rule}${shown}`);
    }
  }
  const config = values as Values;
  if (faults.length === 0 && config.PAGE_SIZE_DEFAULT > config.PAGE_SIZE_MAX) {
    faults.push(
      `Cannot use PAGE_SIZE_DEFAULT: it must be at most PAGE_SIZE_MAX, which is ${config.PAGE_SIZE_MAX}: current value is '${config.PAGE_SIZE_DEFAULT}'`,
    );
  }
  const publicUrl = config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT, schemeOf(config, ''));
  faults.push(...tlsFaults(config, publicUrl));
  faults.push(...externalFaults(config, publicUrl, environment));
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return {
    ...config,
    publicUrl,
    external: externalSettings(config, publicUrl),
    provider: providerSettings(config, publicUrl),
    fixed: fixedLimits,
    limits: {
      sizeDefault: config.PAGE_SIZE_DEFAULT,
      sizeMax: config.PAGE_SIZE_MAX,
      firstPage: config.FIRST_PAGE === '0' ? 0 : 1,
    },
  };
}

/** A setting in the output of `subreport config`. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly origin: 'environment' | 'file' | 'default';
  readonly description: string;
}

/** All effective settings, with secrets masked. */
export function showConfig(config: Config, environment: NodeJS.ProcessEnv = process.env): readonly ShownSetting[] {
  return (Object.keys(settings) as Name[]).map((name) => {
    const setting = settings[name];
    const value = name === 'PUBLIC_URL' ? config.publicUrl : config[name];
    return {
      name,
      value:
        'secret' in setting && value !== undefined && value !== '' ? maskSecret(String(value)) : String(value ?? ''),
      origin: originOf(name, environment),
      description: describeSetting(name),
    };
  });
}

/** Masks a secret: of a URL only its passwords, otherwise all of it. */
function maskSecret(value: string): string {
  const parsed = URL.parse(value);
  if (parsed === null || !value.includes('://')) return '***';
  if (parsed.password !== '') parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}

/** What the setting means; of a secret, also that it can be in a file. */
function describeSetting(name: Name): string {
  const { description } = settings[name];
  return secretNames.includes(name) ? `${description}. ${name}_FILE reads it from a file instead` : description;
}

function originOf(name: Name, environment: NodeJS.ProcessEnv): ShownSetting['origin'] {
  if (secretNames.includes(name) && environment[`${name}_FILE`]) return 'file';
  return environment[name] === undefined || environment[name] === '' ? 'default' : 'environment';
}

function unknownNames(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('SUBREPORT_') && !commandVariables.some((known) => known === name))
    .map(
      (name, index) =>
        `Cannot use ${name}: it must be one of the settings that 'subreport config' lists${index < suggestionsMax ? didYouMean(name.slice('SUBREPORT_'.length), Object.keys(settings)) : ''}`,
    );
}
