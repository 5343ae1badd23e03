import { isIP } from 'node:net';
import { defaultPageLimits, type PageLimits } from '../contract/query.ts';
import { didYouMean } from '../contract/suggest.ts';
import { UsageError } from './error.ts';
import { oneOf, type Setting, text, url, wholeNumber } from './setting.ts';

/** Every setting of the service: an environment variable each. The only file that reads the environment. */
export const settings = {
  HOST: text('127.0.0.1', 'a host name or an IP address, such as 0.0.0.0', 'Address to listen on'),
  PORT: wholeNumber(1, 65_535, 8080, 'Port to listen on'),
  PUBLIC_URL: url(
    ['https', 'http'],
    'https://reports.example.com',
    'URL under which clients reach the service: the issuer of tokens, and the beginning of every link; http://HOST:PORT when not set',
  ),
  DATA_DIR: text('./data', 'a folder, such as /var/lib/subreport', 'Folder of the embedded store (mode 0700)'),
  DATABASE_URL: url(
    ['postgres', 'postgresql'],
    'postgres://subreport:secret@db.example.com:5432/subreport',
    'PostgreSQL database to use instead of the embedded store',
    true,
  ),
  DATABASE_POOL_SIZE: wholeNumber(1, 500, 10, 'Connections to PostgreSQL at most'),
  MIGRATE_ON_START: oneOf(['true', 'false'], 'true', 'Whether commands bring the schema up to date before they begin'),
  PAGE_SIZE_DEFAULT: wholeNumber(1, 10_000, defaultPageLimits.sizeDefault, 'Records on a page when size is not given'),
  PAGE_SIZE_MAX: wholeNumber(1, 10_000, defaultPageLimits.sizeMax, 'Largest size; above it is a 400'),
  FIRST_PAGE: oneOf(['0', '1'], '1', 'Number of the first page; 0 for clients of a 0-based source'),
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, 1_000_000, 0, 'Report requests a minute and client; 0 is no limit'),
  EXPORTS_MAX: wholeNumber(
    1,
    1_000,
    4,
    'Whole reports (all=true) that are streamed at once; each holds a connection to the store',
  ),
  EXPORTS_PER_CLIENT_MAX: wholeNumber(1, 1_000, 2, 'Whole reports that are streamed to one client at once'),
  EXPORT_STALL_SECONDS: wholeNumber(
    1,
    3_600,
    120,
    'Time in which the reader of a whole report must take the next few megabytes, as much as networks buffer; then it is broken off',
  ),
  EXPORT_SECONDS_MAX: wholeNumber(
    1,
    86_400,
    3_600,
    'Longest time for a whole report; as long, the store keeps what was replaced meanwhile',
  ),
  ACCESS_TOKEN_SECONDS: wholeNumber(10, 86_400, 300, 'Lifetime of access tokens'),
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
  TOKEN_FAILURES_PER_MINUTE: wholeNumber(
    0,
    1_000_000,
    20,
    'Failed attempts a minute to get a token, for each client id and address; 0 is no limit',
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
} as const satisfies Record<string, Setting<unknown>>;

type Name = keyof typeof settings;
type Values = { readonly [N in Name]: (typeof settings)[N] extends Setting<infer T> ? T : never };

/** The checked settings with what follows from several of them. */
export interface Config extends Values {
  /** `PUBLIC_URL`, or what follows from `HOST` and `PORT`; without a slash at its end. */
  readonly publicUrl: string;
  readonly limits: PageLimits;
}

/** Reads and checks all settings. Fails with `UsageError` that names every bad value, and every unknown `SUBREPORT_…` variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const faults = unknownNames(environment);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const given = environment[name];
    const value = given === undefined || given === '' ? setting.fallback : setting.read(given);
    if (value === undefined && given !== undefined && given !== '') {
      const shown = 'secret' in setting ? '' : `: current value is '${given}'`;
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
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return {
    ...config,
    publicUrl: config.PUBLIC_URL ?? localUrl(config.HOST, config.PORT),
    limits: {
      sizeDefault: config.PAGE_SIZE_DEFAULT,
      sizeMax: config.PAGE_SIZE_MAX,
      firstPage: config.FIRST_PAGE === '0' ? 0 : 1,
    },
  };
}

/** A setting as `subreport config` shows it. */
export interface ShownSetting {
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
      value: 'secret' in setting && value !== undefined ? maskPassword(String(value)) : String(value ?? ''),
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

function localUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? '127.0.0.1' : isIP(host) === 6 ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function maskPassword(databaseUrl: string): string {
  const parsed = new URL(databaseUrl);
  if (parsed.password !== '') parsed.password = '***';
  for (const name of parsed.searchParams.keys()) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.href;
}
