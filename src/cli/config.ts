import { isIP } from 'node:net';
import {
  anyScope,
  clientIdClaims,
  type ExternalSettings,
  externalAlgorithms,
  externalProfiles,
} from '../auth/external-claims.ts';
import { signingAlgorithms } from '../auth/signing-key.ts';
import { apiPath } from '../contract/operations.ts';
import { defaultPageLimits, type PageLimits } from '../contract/query.ts';
import { didYouMean } from '../contract/suggest.ts';
import { refreshTokenUses } from '../contract/token.ts';
import { accessTokenSecondsMax } from '../storage/tables/refresh-family.ts';
import { UsageError } from './error.ts';
import {
  issuerUrl,
  listOf,
  networks,
  oneOf,
  randomKey,
  type Setting,
  secret,
  text,
  url,
  wholeNumber,
  word,
} from './setting.ts';

/**
 * Every setting of the service: an environment variable each. The only file that reads the
 * environment.
 */
export const settings = {
  HOST: text('127.0.0.1', 'a host name or an IP address, such as 0.0.0.0', 'Address to listen on'),
  PORT: wholeNumber(1, 65_535, 8080, 'Port to listen on'),
  MANAGEMENT_HOST: text(
    '127.0.0.1',
    'a host name or an IP address, such as 10.0.0.5',
    "Address of the operator's own listener (docs/operator.md); not one that clients reach",
  ),
  MANAGEMENT_PORT: wholeNumber(0, 65_535, 9_464, "Port of the operator's own listener; 0 opens none"),
  PUBLIC_URL: url(
    ['https', 'http'],
    'https://reports.example.com',
    'URL under which clients reach the service: the issuer of tokens, and the beginning of every link; http://HOST:PORT when not set',
  ),
  ALLOW_HTTP: oneOf(
    ['true', 'false'],
    'false',
    'Whether serve starts although clients of other machines reach it by http, which shows tokens and secrets to the network',
  ),
  CONSOLE: oneOf(['true', 'false'], 'true', 'Whether the web console is served at /console'),
  DATA_DIR: text('./data', 'a folder, such as /var/lib/subreport', 'Folder of the embedded store (mode 0700)'),
  DATABASE_URL: url(
    ['postgres', 'postgresql'],
    'postgres://subreport:secret@db.example.com:5432/subreport',
    'PostgreSQL database to use instead of the embedded store',
    true,
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 500, 10, 'Connections to PostgreSQL at most'),
  REQUEST_SECONDS_MAX: wholeNumber(
    1,
    60,
    7,
    'Longest time for a request to wait for the store, all its waits together; then it gets 503',
  ),
  SPOOL_MAX_MIB: wholeNumber(
    1,
    1_048_576,
    1_024,
    'Room in DATA_DIR for the sources of strict loads, which are read twice, in MiB and for each process',
  ),
  MIGRATE_ON_START: oneOf(['true', 'false'], 'true', 'Whether commands bring the schema up to date before they begin'),
  PAGE_SIZE_DEFAULT: wholeNumber(1, 10_000, defaultPageLimits.sizeDefault, 'Records on a page when size is not given'),
  PAGE_SIZE_MAX: wholeNumber(1, 10_000, defaultPageLimits.sizeMax, 'Largest size; above it is a 400'),
  FIRST_PAGE: oneOf(['0', '1'], '1', 'Number of the first page; 0 for clients of a 0-based source'),
  PAGE_CACHE_MIB: wholeNumber(
    0,
    65_536,
    64,
    'Memory of each process for finished responses with their keys and headers, in MiB; 0 keeps none',
  ),
  RATE_LIMIT_PER_MINUTE: wholeNumber(
    0,
    1_000_000,
    0,
    'Report requests a minute and client, and as many OAuth requests; 0 is no limit',
  ),
  EXPORTS_MAX: wholeNumber(
    1,
    1_000,
    4,
    'Whole reports (all=true) that are streamed at once; each holds a connection to the store',
  ),
  EXPORTS_PER_CLIENT_MAX: wholeNumber(1, 1_000, 2, 'Whole reports that are streamed to one client at once'),
  EXPORTS_PER_TENANT_MAX: wholeNumber(
    1,
    1_000,
    3,
    'Whole reports that are streamed to all clients of one tenant at once; below EXPORTS_MAX, other tenants always find a place',
  ),
  EXPORT_STALL_SECONDS: wholeNumber(
    1,
    3_600,
    120,
    'Time in which the reader of a whole report must take the next few megabytes, as much as networks buffer; then it is broken off',
  ),
  EXPORT_RATE_MIN_KIB: wholeNumber(
    0,
    1_048_576,
    16,
    'Least rate of the reader of a whole report in KiB a second, on average, measured after it has kept the report waiting for EXPORT_STALL_SECONDS in all; a slower one is broken off; 0 is no limit',
  ),
  EXPORT_SECONDS_MAX: wholeNumber(
    1,
    86_400,
    3_600,
    'Longest time for a whole report; as long, the store keeps what was replaced meanwhile',
  ),
  ACCESS_TOKEN_SECONDS: wholeNumber(10, accessTokenSecondsMax, 300, 'Lifetime of access tokens'),
  REFRESH_TOKEN_SECONDS: wholeNumber(10, 2_592_000, 1_800, 'Lifetime of a refresh token that is not used'),
  REFRESH_FAMILY_SECONDS: wholeNumber(
    10,
    31_536_000,
    36_000,
    'Time after which a client must authenticate anew, however often it refreshed',
  ),
  REFRESH_GRACE_SECONDS: wholeNumber(
    0,
    300,
    10,
    'Time in which a refresh that is repeated gets the same answer again; 0 is strict',
  ),
  REFRESH_TOKEN_USE: oneOf(
    refreshTokenUses,
    'rotate',
    'What becomes of a used refresh token, unless its client was given a use of its own: rotate ends it, reuse leaves it valid until it expires, for clients that keep their first one',
  ),
  REFRESH_FAMILIES_MAX: wholeNumber(
    1,
    1_000,
    100,
    'Refresh tokens of one client that are good at once, one for each of its processes; the ones used longest ago make room (half as many more may live for a while)',
  ),
  KEYCLOAK_MEMBERS: oneOf(
    ['true', 'false'],
    'true',
    'Whether token answers carry session_state and not-before-policy, which clients made for Keycloak may expect',
  ),
  SIGNING_ALGORITHM: oneOf(signingAlgorithms, 'ES256', 'Algorithm that new access tokens are signed with'),
  KEY_ENCRYPTION_SECRET: randomKey(
    'Secret that the private keys in the store are encrypted with; without it they are kept in the clear',
  ),
  KEY_ENCRYPTION_SECRET_BEFORE: secret(
    'The secret before, while it is replaced: the next start encrypts the keys anew',
  ),
  TOKEN_FAILURES_PER_MINUTE: wholeNumber(
    0,
    1_000_000,
    20,
    'Wrong guesses a minute at a secret that a person may have chosen, for each client and network, and five times as many for a network; 0 is no limit',
  ),
  TRUSTED_PROXIES: networks(
    'Proxies whose X-Forwarded-For header is believed, so that wrong guesses count for the address of the client and not of the proxy',
  ),
  CHECK_HOURS: wholeNumber(
    0,
    8_760,
    24,
    'Hours between two checks of the embedded store by the service (subreport doctor, at the lowest priority); 0 is none',
  ),
  TOMBSTONE_DAYS: wholeNumber(
    0,
    3_650,
    90,
    'Days for which the tombstone of a removed subscription is kept; an older change token is a 410; 0 keeps all tombstones',
  ),
  CONNECTIONS_PER_ADDRESS_MAX: wholeNumber(
    1,
    100_000,
    2_000,
    'Open connections of one address (of one /64 network with IPv6) to each process; any number for TRUSTED_PROXIES',
  ),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(
    0,
    300,
    0,
    'Time between the signal to stop and the end of accepting connections, for a load balancer to notice',
  ),
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Least severe log line that is written',
  ),
  AUDIT_FILE: text(
    '',
    'a file, such as /var/log/subreport/audit.log or /dev/stderr',
    'File to which each command that changes something adds a line: who ran what, and how it ended; audit.log in DATA_DIR when not set',
  ),
  OIDC_ISSUER: issuerUrl(
    'https://id.example.com/realms/acme',
    'External identity provider whose access tokens are taken beside our own (docs/identity-providers.md); to the letter what its tokens have in iss',
  ),
  OIDC_AUDIENCE: word(
    undefined,
    'https://reports.example.com/connect-api',
    'What aud of external tokens must contain; PUBLIC_URL/connect-api when not set',
  ),
  OIDC_PROFILE: oneOf(
    externalProfiles,
    'rfc9068',
    "Shape of external tokens: the standard's, or that of Keycloak and others without a typ of its own for access tokens",
  ),
  OIDC_CLIENT_ID_CLAIM: oneOf(
    clientIdClaims,
    undefined,
    'Claim of external tokens that holds the client; when not set, client_id, and with OIDC_PROFILE=keycloak also azp',
  ),
  OIDC_SCOPE_CLAIM: word('scope', 'scp', 'Claim of external tokens that holds the scopes, as a text or as a list'),
  OIDC_REQUIRED_SCOPE: word(
    undefined,
    'subscription:read',
    `Scope of external tokens that allows the report, ${anyScope} when none is needed; when not set, subscription:read, and with OIDC_PROFILE=keycloak none`,
  ),
  OIDC_TOKEN_SECONDS_MAX: wholeNumber(
    60,
    2_592_000,
    86_400,
    'Time after its issue in which an external token is accepted at most, whatever its exp says',
  ),
  OIDC_ALGORITHMS: listOf(
    externalAlgorithms,
    ['ES256', 'RS256', 'PS256', 'EdDSA'],
    'Algorithms that external tokens may be signed with',
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Name = keyof typeof settings;
type Values = { readonly [N in Name]: (typeof settings)[N] extends Setting<infer T> ? T : never };

/** The checked settings with what follows from several of them. */
export interface Config extends Values {
  /** `PUBLIC_URL`, or what follows from `HOST` and `PORT`; without a slash at its end. */
  readonly publicUrl: string;
  readonly limits: PageLimits;
  /** What the `OIDC_` settings say together; `undefined` without `OIDC_ISSUER`. */
  readonly external: ExternalSettings | undefined;
}

/**
 * Reads and checks all settings. Fails with `UsageError` that names every bad value, and every
 * unknown `SUBREPORT_…` variable.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const faults = unknownNames(environment);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const given = environment[name];
    const value = given === undefined || given === '' ? setting.fallback : setting.read(given);
    if (value === undefined && given !== undefined && given !== '') {
      const shown = 'secret' in setting ? '' : `: current value is '${hidePassword(given ?? '')}'`;
      faults.push(`Cannot use ${name}: it must be ${setting.rule}${shown}`);
    }
    values[name] = value;
  }
  const config = values as Values;
  if (faults.length === 0 && config.PAGE_SIZE_DEFAULT > config.PAGE_SIZE_MAX) {
    faults.push(
      `Cannot use PAGE_SIZE_DEFAULT: it must be at most PAGE_SIZE_MAX, which is ${config.PAGE_SIZE_MAX}: current value is '${config.PAGE_SIZE_DEFAULT}'`,
    );
  }
  const publicUrl = config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT);
  faults.push(...externalFaults(config, publicUrl, environment));
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return {
    ...config,
    publicUrl,
    external: externalSettings(config, publicUrl),
    limits: {
      sizeDefault: config.PAGE_SIZE_DEFAULT,
      sizeMax: config.PAGE_SIZE_MAX,
      firstPage: config.FIRST_PAGE === '0' ? 0 : 1,
    },
  };
}

/** A setting as `subreport config` shows it. */
interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly origin: 'environment' | 'default';
  readonly description: string;
}

/** All settings as they are in force; secrets masked. */
export function showConfig(config: Config, environment: NodeJS.ProcessEnv = process.env): readonly ShownSetting[] {
  return (Object.keys(settings) as Name[]).map((name) => {
    const setting = settings[name];
    const value = name === 'PUBLIC_URL' ? config.publicUrl : config[name];
    return {
      name,
      value: 'secret' in setting && value !== undefined ? maskSecret(String(value)) : String(value ?? ''),
      origin: environment[name] === undefined || environment[name] === '' ? 'default' : 'environment',
      description: setting.description,
    };
  });
}

function unknownNames(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith('SUBREPORT_'))
    .map(
      (name) =>
        `Cannot use ${name}: it must be one of the settings that 'subreport config' lists${didYouMean(name.slice('SUBREPORT_'.length), Object.keys(settings))}`,
    );
}

/** Settings of an external issuer that is missing, or is this service. */
function externalFaults({ OIDC_ISSUER: issuer }: Values, publicUrl: string, environment: NodeJS.ProcessEnv): string[] {
  if (issuer === publicUrl) {
    return [`Cannot use OIDC_ISSUER: it must be another issuer than this service: current value is '${issuer}'`];
  }
  if (environment.OIDC_ISSUER !== undefined && environment.OIDC_ISSUER !== '') return [];
  return Object.keys(settings)
    .filter((name) => name.startsWith('OIDC_') && environment[name] !== undefined && environment[name] !== '')
    .map(
      (name) =>
        `Cannot use ${name}: it must be set together with OIDC_ISSUER: current value is '${hidePassword(environment[name] ?? '')}'`,
    );
}

function externalSettings(values: Values, publicUrl: string): ExternalSettings | undefined {
  if (values.OIDC_ISSUER === undefined) return undefined;
  return {
    issuer: values.OIDC_ISSUER,
    audience: values.OIDC_AUDIENCE ?? `${publicUrl}${apiPath}`,
    profile: values.OIDC_PROFILE,
    clientIdClaim: values.OIDC_CLIENT_ID_CLAIM,
    scopeClaim: values.OIDC_SCOPE_CLAIM,
    requiredScope: values.OIDC_REQUIRED_SCOPE,
    algorithms: values.OIDC_ALGORITHMS,
    tokenSecondsMax: values.OIDC_TOKEN_SECONDS_MAX,
  };
}

/** A value that is shown although it was refused, without what stands before the `@` of a URL. */
const hidePassword = (value: string): string => value.replace(/\/\/.*@/s, '//***@');

function localUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? '127.0.0.1' : isIP(host) === 6 ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function maskSecret(value: string): string {
  const parsed = URL.parse(value);
  if (parsed === null || !value.includes('://')) return '***';
  if (parsed.password !== '') parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
