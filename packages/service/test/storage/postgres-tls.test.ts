import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { makeCertificate, type TestCertificate } from '../../../../test/support/certificates.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres-server.ts';
import { openStore } from '../../storage/open-store.ts';

/** The account that PostgreSQL runs as if the tests run as root; it must own the key. */
const unprivileged = 65_534;
const role = 'subreport_tls';
let folder: string;
let server: PostgresServer;
let ofServer: TestCertificate;
let ofRole: TestCertificate;
let ofOther: TestCertificate;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-postgres-tls-'));
  chmodSync(folder, 0o755);
  ofServer = makeCertificate(join(folder, 'server'), 'database');
  ofRole = makeCertificate(join(folder, 'role'), role);
  ofOther = makeCertificate(join(folder, 'other'), role);
  if (process.getuid?.() === 0) chownSync(ofServer.key, unprivileged, unprivileged);
  const access = join(folder, 'pg_hba.conf');
  const lines = [
    'host all clear 127.0.0.1/32 password',
    'host all postgres 127.0.0.1/32 trust',
    `hostssl all ${role} 127.0.0.1/32 cert`,
  ];
  writeFileSync(access, `${lines.join('\n')}\n`);
  const files = { ssl_cert_file: ofServer.certificate, ssl_key_file: ofServer.key, ssl_ca_file: ofRole.certificate };
  const settings = Object.entries({ ssl: 'on', hba_file: access, ...files }).map((pair) => pair.join('='));
  server = await startPostgres(settings);
  const superuser = await connectPostgres(server.url);
  await superuser.query(`create role ${role} login; grant create on schema public to ${role}`);
  await superuser.query("create role clear login password 'in-the-clear'");
  await superuser.end();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const open = (databaseUrl: string) =>
  openStore({ databaseUrl, dataDir: folder, poolSize: 1, onConnectionError: () => undefined });

/** The URL with TLS and a client certificate. */
const urlWith = (parameters: Record<string, string>): string => {
  const url = new URL(server.url);
  url.username = role;
  const trusted = { sslmode: 'verify-full', sslrootcert: ofServer.certificate };
  url.search = new URLSearchParams({ ...trusted, ...parameters }).toString();
  return url.href;
};
const clientCertificate = ({ certificate, key }: TestCertificate) => ({ sslcert: certificate, sslkey: key });

test('sslmode=verify-full and a client certificate open the store without a password (ASVS 13.2.1)', async () => {
  const store = open(urlWith(clientCertificate(ofRole)));
  await store.migrate();
  await store.checkReady();
  const [row] = await store.readDirectory('select ssl, version from pg_stat_ssl where pid = pg_backend_pid()', []);
  expect(row).toMatchObject({ ssl: true, version: expect.stringMatching(/^TLSv1\.[23]$/) });
  await store.close();
});

test('a snapshot is read over TLS, however long its rows are', async () => {
  const store = open(urlWith(clientCertificate(ofRole)));
  await store.migrate();
  const tenant = await addTenant(store, 'acme');
  await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' }), subscriptionRow({ id: 'b' })]);
  const snapshot = await store.openSnapshot(tenant, 1_000);
  const sql = 'select repeat(id, 300000) from subscription where tenant_id = $1 order by id';
  const batches = await Array.fromAsync(snapshot.streamLines(sql, [], 1), ({ lines }) => String(lines));
  expect(batches).toEqual([`${'a'.repeat(300_000)}\n`, `${'b'.repeat(300_000)}\n`]);
  await snapshot.close();
  await store.close();
});

test.each([
  [
    'a server certificate of another authority',
    () => urlWith({ ...clientCertificate(ofRole), sslrootcert: ofOther.certificate }),
  ],
  ['a client certificate of another authority', () => urlWith(clientCertificate(ofOther))],
  ['no client certificate', () => urlWith({})],
  ['no TLS', () => urlWith({ sslmode: 'disable' })],
])('%s is rejected', async (_case, url) => {
  const store = open(url());
  await expect(store.checkReady()).rejects.toMatchObject({ name: 'StorageError' });
  await store.close();
});

test('a certificate that cannot be trusted is named in the error', async () => {
  const store = open(urlWith({ ...clientCertificate(ofRole), sslrootcert: ofOther.certificate }));
  await expect(store.checkReady()).rejects.toThrow(/its certificate is (self-signed|of an unknown authority): name/);
  await store.close();
});

test('a password is never sent in clear text without TLS', async () => {
  const url = new URL(server.url);
  [url.username, url.password] = ['clear', 'in-the-clear'];
  const store = open(url.href);
  await expect(store.checkReady()).rejects.toThrow(
    'it asks for the password in clear text, which is sent over TLS only',
  );
  await expect(store.migrate()).rejects.toThrow('it asks for the password in clear text, which is sent over TLS only');
  await store.close();
});
