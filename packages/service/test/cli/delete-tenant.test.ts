import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import { SqliteConnection } from '../../storage/sqlite/connection.ts';
import type { TenantId, TenantSql } from '../../storage/store.ts';
import { beginDeletion, eraseStatements, finishDeletion } from '../../storage/tables/delete-tenant.ts';
import { listClients } from '../../storage/tables/list-clients.ts';
import { findTenant, listTenants } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const tables = ['subscription', 'subscription_span', 'subscription_tombstone'] as const;
const erasedTables = eraseStatements.map((sql) => /^delete from (\w+)/.exec(sql)?.[1] ?? '');
const errorMessage = /^Cannot [^\n]+\n$/;

describe.each(drawn)('deleting on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  let folder: string;
  const run = (args: readonly string[], input?: string) => runHere(args, opened.environment, input);
  const json = async (args: readonly string[], input?: string) => {
    const { code, stdout, stderr } = await run([...args, '--json'], input);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  const rowsOf = (tenant: TenantId) =>
    service.store.readTenant(tenant, async (reader) => {
      const counts: number[] = [];
      for (const table of tables) {
        const [row] = await reader.all(`select count(*) as n from ${table} where tenant_id = $1`);
        counts.push(Number(row?.n));
      }
      return counts;
    });
  const load = async (tenant: TenantId, count: number) => {
    for (let n = 0; n < count; n += 5_000) {
      const ids = Array.from({ length: Math.min(5_000, count - n) }, (_, m) => `id-${n + m}`);
      await service.store.loadSubscriptions(
        tenant,
        ids.map((id) => subscriptionRow({ id })),
      );
    }
  };

  beforeAll(async () => {
    opened = await openTestStore();
    service = await startService(opened);
    folder = mkdtempSync(join(tmpdir(), 'subreport-delete-'));
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test('a tenant removes its clients and all its rows, and changes no other tenant', async () => {
    const [acme, other] = [await service.createTenant('acme'), await service.createTenant('other')];
    for (const tenant of [acme, other]) await load(tenant, 3_000);
    await service.store.deleteSubscriptions(acme, ['id-1']);
    const token = await service.accessToken(await service.createClient(acme));
    const otherToken = await service.accessToken(await service.createClient(other));
    expect((await service.get('/v1/subscription', token)).status).toBe(200);
    const before = await rowsOf(other);
    const unconfirmed = await run(['tenant', 'delete', 'acme']);
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringMatching(errorMessage)]);
    expect(await json(['tenant', 'delete', 'acme', '--yes'])).toMatchObject({
      tenant: 'acme',
      deleted: true,
      clients: 1,
    });
    await expect.poll(async () => (await service.get('/v1/subscription', token)).status).toBe(401);
    expect(await rowsOf(acme)).toEqual([0, 0, 0]);
    expect(await listClients(service.store, acme)).toEqual([]);
    expect((await listTenants(service.store)).map(({ tenant }) => tenant)).not.toContain('acme');
    expect(await rowsOf(other)).toEqual(before);
    expect((await service.get('/v1/subscription', otherToken)).status).toBe(200);
    const again = await run(['tenant', 'delete', 'acme', '--yes']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^Cannot find the tenant/)]);
  });

  test('a tenant frees its name for a new one, which shares no revision, record or client with it', async () => {
    const first = await service.createTenant('again');
    await load(first, 10);
    await service.store.loadSubscriptions(first, [subscriptionRow({ id: 'id-1', status: 'DEPLETED' })]);
    const { revision = 0 } = (await findTenant(service.store, first)) ?? {};
    await json(['tenant', 'delete', 'again', '--yes']);
    await json(['tenant', 'create', 'again']);
    expect((await findTenant(service.store, 'again'))?.revision).toBeGreaterThan(revision);
    expect((await service.store.readTenant(first, (reader) => checkRecords(reader))).problems).toEqual([]);
    const token = await service.accessToken(await service.createClient(first));
    const report = await service.get('/v1/subscription', token);
    expect([await report.json(), report.headers.get('x-total-count')]).toEqual([[], '0']);
    await load(first, 2);
    expect((await service.get('/v1/subscription', token)).headers.get('x-total-count')).toBe('2');
  });

  test('a tenant half-way (killed) leaves nothing usable, and continues when it is run again', async () => {
    const tenant = await service.createTenant('killed');
    const total = 30_000;
    await load(tenant, total);
    const token = await service.accessToken(await service.createClient(tenant));
    const deletion = startCommand(['tenant', 'delete', 'killed', '--yes'], { environment: opened.environment });
    let [left = 0] = await rowsOf(tenant);
    for (; left === total; [left = 0] = await rowsOf(tenant)) await sleep(5);
    deletion.child.kill('SIGKILL');
    await deletion.ended;
    expect((await rowsOf(tenant))[0]).toBeGreaterThan(0);
    expect((await service.get('/v1/subscription', token)).status).toBe(401);
    for (const args of [
      ['client', 'create', '--tenant', 'killed'],
      ['import', '-', '--format', 'ndjson', '--tenant', 'killed'],
      ['tenant', 'create', 'killed'],
    ]) {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
    }
    expect((await run(['tenant', 'list'])).stdout).toMatch(/^killed .*being deleted since/m);
    expect(await json(['tenant', 'delete', 'killed', '--yes'])).toMatchObject({ deleted: true, clients: 0 });
    expect(await rowsOf(tenant)).toEqual([0, 0, 0]);
  });

  test('a tenant keeps no row if a repair of it ends after its last row is erased', async () => {
    const { store } = service;
    const tenant = await service.createTenant('repaired');
    await load(tenant, 10);
    await store.deleteSubscriptions(tenant, ['id-1']);
    await beginDeletion(store, tenant, 1);
    for (let erased = -1; erased !== 0; ) erased = await store.eraseRows(tenant, 4);
    await store.recountSubscriptions(tenant, 1);
    await finishDeletion(store, tenant, 1);
    await store.recountSubscriptions(tenant, 1);
    const left = await store.readTenant(tenant, (reader) =>
      Promise.all(erasedTables.map((table) => reader.all(`select * from ${table} where tenant_id = $1` as TenantSql))),
    );
    expect(left.flat()).toEqual([]);
  });

  test('a tenant is refused while an import runs, and an import into a deleted tenant is refused', async () => {
    const tenant = await service.createTenant('busy');
    await load(tenant, 10);
    const lock = await service.store.lockImport(tenant);
    for (const args of [
      ['tenant', 'delete', 'busy', '--yes'],
      ['subscription', 'delete', '--tenant', 'busy', '--id', 'id-1'],
    ]) {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining('another one is running')]);
    }
    expect((await rowsOf(tenant))[0]).toBe(10);
    await lock?.release();
    await json(['tenant', 'delete', 'busy', '--yes']);
    const late = await run(['import', '-', '--format', 'ndjson', '--tenant', 'busy'], '');
    expect([late.code, late.stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
    expect(await rowsOf(tenant)).toEqual([0, 0, 0]);
  });

  test('subscriptions removes them from the report and leaves tombstones for clients that read changes', async () => {
    const tenant = await service.createTenant('erasure');
    const rows = [...syntheticRows({ count: 20, seed: 4, until: 1_767_225_600 })];
    const text = rows.map((row) => `${JSON.stringify({ ...row, email: `${row.id}@erased.example` })}\n`).join('');
    await json(['import', '-', '--format', 'ndjson', '--tenant', 'erasure'], text);
    const [one = '', two = '', three = '', ...others] = rows.map(({ id }) => id);
    const token = await service.accessToken(await service.createClient(tenant));
    const start = (await (await service.get('/v1/subscription/changes', token)).json()) as { next: string };
    const address = `${one}@erased.example`.toLowerCase();
    if (engine === 'sqlite') expect(await readStoreFiles()).toContain(address);
    const byId = ['subscription', 'delete', '--tenant', 'erasure', '--id', one, two, 'nobody'];
    expect(await json(byId)).toEqual({ tenant: 'erasure', asked: 3, deleted: 2, missing: 1, versions: 0 });
    expect(await json(byId)).toEqual({ tenant: 'erasure', asked: 3, deleted: 0, missing: 3, versions: 0 });
    const file = join(folder, 'erase.txt');
    writeFileSync(file, `${three}\r\n\n${three}\n`);
    const byFile = ['subscription', 'delete', '--tenant', 'erasure', '--file', file];
    expect((await run(byFile)).stdout).toMatch(/: deleted 1 of 1 subscription, not found: 0, former versions: 0\.\n$/);
    await expect
      .poll(async () => (await service.get('/v1/subscription', token)).headers.get('x-total-count'))
      .toBe('17');
    for (const id of [one, two, three]) {
      const { status } = await service.get(`/v1/subscription/${encodeURIComponent(id)}`, token);
      expect(status).toBe(404);
    }
    const changes = await (await service.get(`/v1/subscription/changes?since=${start.next}`, token)).text();
    for (const id of [one, two, three]) expect(changes).toContain(id);
    expect(changes).not.toContain(others[0]);
    if (engine === 'sqlite') expect(await readStoreFiles()).not.toContain(address);
  });

  /** The contents of the embedded store's files after its write-ahead log was emptied. */
  const readStoreFiles = async (): Promise<string> => {
    const dataDir = opened.environment.DATA_DIR ?? '';
    const connection = new SqliteConnection(join(dataDir, 'subreport.db'), 5_000);
    connection.run('pragma wal_checkpoint(truncate)');
    connection.close();
    const files = readdirSync(dataDir).filter((name) => name.startsWith('subreport.db'));
    return files.map((name) => readFileSync(join(dataDir, name), 'latin1')).join('');
  };

  test('subscriptions by an invalid file removes nothing, and by an ICCID in groups all of the SIM', async () => {
    const tenant = await service.createTenant('careful');
    await load(tenant, 3);
    const file = join(folder, 'wrong.txt');
    writeFileSync(file, 'id-1\nid,status\n');
    const wrong = await run(['subscription', 'delete', '--tenant', 'careful', '--file', file]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('line 2 must be')]);
    const absent = await run(['subscription', 'delete', '--tenant', 'careful', '--file', join(folder, 'absent')]);
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringMatching(errorMessage)]);
    for (const args of [[], ['--id', 'a b']]) {
      const { code, stderr } = await run(['subscription', 'delete', '--tenant', 'careful', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(errorMessage)]);
    }
    expect((await rowsOf(tenant))[0]).toBe(3);
    const sim = await json(['subscription', 'delete', '--tenant', 'careful', '--iccid', '8944 5001-0219 8304 826F']);
    expect(sim).toMatchObject({ deleted: 3 });
  });
});
