import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { announce, databaseWarning, requireSecureTransport } from './announce.ts';

/** What the log warns of at a start with these settings. */
function warningsOf(environment: Record<string, string>): string[] {
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const output = { stdout: process.stdout, stderr: process.stderr };
  announce({ config: readConfig(environment), demo: undefined, json: false, workers: 1 }, logger, output);
  return lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
}

const proxied = { PUBLIC_URL: 'https://reports.example.com', TRUSTED_PROXIES: '127.0.0.1' };
const KEY_ENCRYPTION_SECRET = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64');

test.each([
  ['HOST', { HOST: '0.0.0.0' }],
  ['HOST', { HOST: '::' }],
  ['HOST', { HOST: 'reports.internal' }],
  ['HOST', { HOST: '192.0.2.1', PUBLIC_URL: 'http://127.0.0.1:8080' }],
  ['PUBLIC_URL', { PUBLIC_URL: 'http://reports.example.com' }],
  ['PUBLIC_URL', { HOST: '0.0.0.0', PUBLIC_URL: 'http://reports.example.com' }],
  ['MANAGEMENT_HOST', { ...proxied, HOST: '0.0.0.0', MANAGEMENT_HOST: '0.0.0.0' }],
  ['MANAGEMENT_URL', { MANAGEMENT_URL: 'http://reports-admin.example.com' }],
])(
  '7 (RFC 6749 §3.2, §10.9): %s is refused if other machines can use http by %j (12.2.1, 12.3.3)',
  (name, environment) => {
    const refused = `Cannot serve with ${name}: other machines must use https`;
    expect(() => requireSecureTransport(readConfig(environment))).toThrow(refused);
    const allowed = { ...environment, ALLOW_HTTP: 'true' };
    requireSecureTransport(readConfig(allowed));
    expect(warningsOf(allowed)).toContainEqual(
      expect.stringMatching(`^${name} lets other machines use http: tokens and`),
    );
  },
);

test.each([
  {},
  { HOST: 'localhost', MANAGEMENT_HOST: '127.0.0.2' },
  { HOST: '::1', MANAGEMENT_HOST: '0.0.0.0', MANAGEMENT_PORT: '0' },
  { ...proxied, HOST: '0.0.0.0', KEY_ENCRYPTION_SECRET },
  { HOST: '10.0.0.5', TLS_CERT_FILE: 'a', TLS_KEY_FILE: 'b', KEY_ENCRYPTION_SECRET },
  { MANAGEMENT_HOST: '10.0.0.5', MANAGEMENT_URL: 'https://reports-admin.example.com' },
  { MANAGEMENT_HOST: '10.0.0.5', MANAGEMENT_TLS_CERT_FILE: 'a', MANAGEMENT_TLS_KEY_FILE: 'b' },
])('%j needs no warning', (environment) => {
  requireSecureTransport(readConfig(environment));
  expect(warningsOf(environment)).toEqual([]);
});

test.each([
  ['KEY_ENCRYPTION_SECRET', proxied],
  ['KEY_ENCRYPTION_SECRET', { HOST: '0.0.0.0', ALLOW_HTTP: 'true' }],
  ['KEY_ENCRYPTION_SECRET', { DATABASE_URL: 'postgres://localhost/subreport' }],
  ['TRUSTED_PROXIES', { PUBLIC_URL: proxied.PUBLIC_URL }],
  ['PUBLIC_URL', { HOST: '0.0.0.0', ALLOW_HTTP: 'true' }],
])('a warning says that %s is not set beside %j', (name, environment) => {
  expect(warningsOf(environment)).toContainEqual(expect.stringMatching(`^${name} is not set`));
});

test.each([
  undefined,
  'postgres://me:hush@localhost/db',
  'postgres://me:hush@127.0.0.1:6432/db',
  'postgres://me:hush@[::1]/db',
  'postgres:///db?host=/var/run/postgresql',
  'postgres://me@%2Fvar%2Frun/db',
  'postgres://me:hush@db.example.com/db?sslmode=verify-full&sslrootcert=/etc/ca.pem',
])('a database at %s needs no warning', (url) => {
  expect(databaseWarning(url)).toBeUndefined();
});

test.each(['', '?sslmode=disable', '?sslmode=no-verify', '?sslmode=require&uselibpqcompat=true'])(
  'a database of another machine with %j gets a warning without its password',
  (options) => {
    const warning = databaseWarning(`postgres://me:hush@db.example.com/db${options}`);
    expect(warning).toContain("current host is 'db.example.com'");
    expect(warning).toContain('sslmode=verify-full');
    expect(warning).not.toContain('hush');
  },
);
