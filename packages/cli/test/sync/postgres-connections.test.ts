import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, signCertificate } from '../../../../test/support/certificates.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { type CommandResult, runCommand } from '../../../../test/support/run-command.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres-server.ts';
import { PostgresTables } from '../../sync/table/postgres-table.ts';

const unprivileged = 65_534;
const password = 'a!b:c@d';
let folder: string;
let server: PostgresServer;
let superuser: pg.Client;

const fileOf = (name: string): string => join(folder, name);

/** Lets the server present a certificate from now on. */
async function present(certificate: string, key: string): Promise<void> {
  copyFileSync(certificate, fileOf('server.crt'));
  copyFileSync(key, fileOf('server.key'));
  for (const file of ['server.crt', 'server.key']) {
    chmodSync(fileOf(file), 0o600);
    if (process.getuid?.() === 0) chownSync(fileOf(file), unprivileged, unprivileged);
  }
  const before = await loadedAt();
  await superuser.query('select pg_reload_conf()');
  await eventually(async () => expect(await loadedAt()).not.toBe(before));
}

const loadedAt = async (): Promise<string> =>
  (await superuser.query('select pg_conf_load_time()::text as at')).rows[0].at;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-sync-tls-'));
  chmodSync(folder, 0o755);
  const self = makeCertificate(fileOf('self'), 'database');
  const authority = makeCertificate(fileOf('ca'), 'authority');
  signCertificate(folder, 'right', authority, { host: 'DNS:localhost' });
  signCertificate(folder, 'other', authority, { host: 'DNS:db.example.com' });
  signCertificate(folder, 'client', authority, { host: 'DNS:localhost', extensions: ['extendedKeyUsage=clientAuth'] });
  signCertificate(folder, 'expired', authority, {
    host: 'DNS:localhost',
    dates: ['20200101000000Z', '20200201000000Z'],
  });
  writeFileSync(
    fileOf('hba.conf'),
    'host all clear 127.0.0.1/32 password\nhost all plain 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n',
  );
  for (const [from, to] of [
    [self.certificate, 'server.crt'],
    [self.key, 'server.key'],
  ] as const) {
    copyFileSync(from, fileOf(to));
    chmodSync(fileOf(to), 0o600);
    if (process.getuid?.() === 0) chownSync(fileOf(to), unprivileged, unprivileged);
  }
  const files = {
    ssl_cert_file: fileOf('server.crt'),
    ssl_key_file: fileOf('server.key'),
    hba_file: fileOf('hba.conf'),
  };
  server = await startPostgres(Object.entries({ ssl: 'on', ...files }).map((pair) => pair.join('=')));
  superuser = new pg.Client({ connectionString: server.url });
  await superuser.connect();
  for (const role of ['clear', 'plain']) await superuser.query(`create role ${role} login password '${password}'`);
});
afterAll(async () => {
  await superuser.end();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Reads a copy at a URL. There is no service: the destination is opened first. */
const status = (to: string, ...more: string[]): Promise<CommandResult> =>
  runCommand(['sync', 'status', '--to', to, ...more], {
    environment: {
      SUBREPORT_URL: 'http://127.0.0.1:9',
      SUBREPORT_CLIENT_ID: 'acme',
      SUBREPORT_CLIENT_SECRET: 'x'.repeat(20),
    },
  });

/** The URL of the server with parameters, through its name. */
function urlWith(parameters: Readonly<Record<string, string>>, role = 'postgres'): string {
  const url = new URL(server.url);
  url.hostname = 'localhost';
  url.username = role;
  url.password = role === 'postgres' ? '' : password;
  url.search = new URLSearchParams(parameters).toString();
  return url.href;
}

const expectSentence = ({ code, stderr }: CommandResult, sentence: string): void => {
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).not.toMatch(/SECURITY WARNING|^\s+at /m);
  for (const part of password.split(/[:@]/)) if (part.length > 1) expect(stderr).not.toContain(part);
  expect(code).toBe(2);
};

test('each certificate that cannot be trusted has its own sentence', async () => {
  const full = { sslmode: 'verify-full' };
  const known = { ...full, sslrootcert: fileOf('ca/tls.crt') };
  expectSentence(await status(urlWith(full)), 'its certificate is self-signed: name it with sslrootcert=FILE');
  await present(fileOf('right.crt'), fileOf('right.key'));
  expectSentence(await status(urlWith(full)), 'its certificate is of an unknown authority: name the certificate');
  await present(fileOf('other.crt'), fileOf('other.key'));
  expectSentence(await status(urlWith(known)), 'its certificate is of another host');
  await present(fileOf('client.crt'), fileOf('client.key'));
  expectSentence(await status(urlWith(known)), 'its certificate is not for servers');
  await present(fileOf('expired.crt'), fileOf('expired.key'));
  expectSentence(await status(urlWith(known)), 'its certificate has expired');
  expectSentence(
    await status(urlWith({ ...full, sslrootcert: fileOf('none') })),
    'must be files that this user can read',
  );
});

test('a server without TLS has its own sentence', async () => {
  const plain = await startPostgres();
  const url = `${plain.url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full`;
  expectSentence(await status(url), 'it has no TLS, which sslmode of the URL demands');
  await plain.stop();
});

test('sslmode=require is verified without a warning of the driver', async () => {
  await present(fileOf('other.crt'), fileOf('other.key'));
  expectSentence(await status(urlWith({ sslmode: 'require' })), 'its certificate is of an unknown authority');
});

test.each([
  ['postgres://reports:a!b:c@d@db.example.com/warehouse', 'must be reached with sslmode=verify-full'],
  ['postgres://reports:a!b:c@d@127.0.0.1.example.com/warehouse', 'must be reached with sslmode=verify-full'],
  ['postgres://reports:a!b:c@d@db.example.com/warehouse?sslmode=require', 'must be reached with sslmode=verify-full'],
  ['postgres:reports:a!b@d@db.example.com/warehouse', "current value is 'postgres:…'"],
  ['postgres://reports:a!b/c@d@db.example.com/warehouse', 'it must be a URL such as postgres://'],
  ['postgres://reports:5432/c@d@db.example.com/warehouse', 'it must be a URL such as postgres://'],
  ['postgres://reports:a!b?c@d@db.example.com/warehouse', 'it must be a URL such as postgres://'],
  ['postgres://reports:a!b#c@d@db.example.com/warehouse', 'it must be a URL such as postgres://'],
])('%s is refused in one sentence without its password', async (to, sentence) => {
  const result = await status(to);
  expectSentence(result, sentence);
  expect(result.stderr).not.toMatch(/a!b|c@d|@d@/);
});

test('a password is never sent in clear text without TLS', async () => {
  expectSentence(await status(urlWith({}, 'clear')), 'it asks for the password in clear text');
  const { stderr } = await status(urlWith({}, 'plain'));
  expect(stderr).not.toContain('clear text');
});

test('a role that may not create temporary tables is refused at its first run', async () => {
  await superuser.query('revoke temporary on database postgres from public');
  const tables = await PostgresTables.connect(urlWith({}, 'plain'));
  await expect(tables.beginWriting('subscriptions')).rejects.toThrow('create temporary tables: grant temporary on');
  await tables.all('rollback');
  const forging = "do $$ begin raise exception E'first\\nforged'; end $$";
  await expect(tables.all(forging)).rejects.toThrow(/it must accept the copy: first$/);
  await tables.close();
  await superuser.query('grant temporary on database postgres to public');
});
