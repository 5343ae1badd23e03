import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { startManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { Import } from '../../../contract/operator/import.ts';
import { importRecords } from '../../import/import-records.ts';
import { sweepImports } from '../../import/sweep-imports.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { firstImportIdAt, type ImportOrigin, withHistory } from '../../import/with-history.ts';
import { describeImport, listImports, readImportErrors, showImport } from '../../operator/imports.ts';
import { describeTenant, listTenants, showTenant } from '../../operator/tenants.ts';
import { StorageError } from '../../storage/error.ts';
import { directoryStatement, type Store, type TenantId, type TenantStatement } from '../../storage/store.ts';
import {
  afterAllIds,
  listImportRows,
  listLatestImports,
  putImport,
  putRejections,
  readRejections,
  removeImports,
} from '../../storage/tables/import-history.ts';
import { countImports, countTenantsByImport, readLastGoodImport } from '../../storage/tables/import-totals.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const rows = [...syntheticRows({ count: 20, seed: 12, until: 1_767_225_600 })].map((row) => JSON.stringify(row));
const bad = JSON.stringify({ id: 'x', email: 'ada@example.com', iccid: 'not-an-iccid' });
const dayMs = 86_400_000;

describe.each(drawOne(engines, import.meta.url))('the history of imports on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const makeTenant = (name: string) => addTenant(store, name);
  const importText = (tenant: string, text: string, ...options: string[]) =>
    runHere(['import', '-', '--format', 'ndjson', '--tenant', tenant, '--json', ...options], opened.environment, text);
  const newest = async (tenant: TenantId) => (await listImports(opened, { tenant }, 1))[0] ?? expect.unreachable();

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  test('has who imported what, how, with which counts, and the revision afterwards', async () => {
    const tenant = await makeTenant('counted');
    const { stdout } = await importText(tenant, [...rows, bad].join('\n'));
    const row = await newest(tenant);
    expect(row).toMatchObject({
      id: JSON.parse(stdout).import_id,
      tenant,
      actorKind: 'command',
      actorId: expect.stringMatching(/./),
      via: 'command',
      format: 'ndjson',
      options: [],
      columns: null,
      result: 'ok',
      error: null,
      counts: { read: 21, rejected: 1, inserted: 20, updated: 0, unchanged: 0, removed: 0 },
      revision: (await findTenant(store, tenant))?.revision,
    });
    expect(row.endedAt).toBeGreaterThanOrEqual(row.startedAt);
    await importText(tenant, rows.slice(1).join('\n'), '--replace');
    expect(await newest(tenant)).toMatchObject({ options: ['replace'], counts: { unchanged: 19, removed: 1 } });
  });

  test('the outcome of an import says whether rows were rejected, in the history, the summary and the sentence', async () => {
    const some = [...rows.slice(0, 2), bad, bad, bad].join('\n');
    const cases = [
      [rows.join('\n'), [], 'loaded'],
      [some, [], 'loaded-with-rejects'],
      [some, ['--dry-run'], 'checked-with-rejects'],
      [rows.join('\n'), ['--dry-run'], 'checked'],
      [`${bad}\n${bad}`, [], 'failed'],
      [some, ['--strict'], 'failed'],
      [some, ['--replace'], 'failed'],
    ] as const;
    const tenant = await makeTenant('outcomes');
    for (const [text, options, outcome] of cases) {
      const summary = JSON.parse((await importText(tenant, text, ...options)).stdout);
      const row = await newest(tenant);
      expect([summary.outcome, describeImport(row).outcome, row.id]).toEqual([outcome, outcome, summary.import_id]);
      const arguments_ = ['import', '-', '--format', 'ndjson', '--tenant', tenant, ...options];
      const { stdout } = await runHere(arguments_, opened.environment, text);
      expect(stdout).toContain(`Tenant outcomes: ${outcome.replaceAll('-', ' ')}: `);
    }
    expect(describeTenant(await showTenant(opened, tenant)).last_import).toMatchObject({ outcome: 'failed' });
  });

  test('keeps the first 100 rejected rows of an import, without addresses and raw rows', async () => {
    const tenant = await makeTenant('rejected');
    await importText(tenant, `${bad}\n`.repeat(150));
    const lines = (await readImportErrors(opened, (await newest(tenant)).id)).trimEnd().split('\n');
    expect(lines).toHaveLength(100);
    expect(JSON.parse(lines[99] ?? '')).toMatchObject({ line: 100, errors: expect.any(Array) });
    expect(lines.join('')).toContain('not-an-iccid');
    expect(lines.join('')).not.toContain('ada@example.com');
  });

  test('quotes no address of a source, wherever it stands', async () => {
    const tenant = await makeTenant('addresses');
    const address = 'ada@x.io';
    const rejected = [
      `{"email":${address}}`,
      address,
      JSON.stringify(address),
      JSON.stringify([address]),
      ...Object.keys(JSON.parse(rows[0] ?? '')).map((field) =>
        JSON.stringify({ ...JSON.parse(rows[0] ?? ''), [field]: `<${address}> \u0007` }),
      ),
    ];
    await importText(tenant, rejected.join('\n'));
    const row = await newest(tenant);
    expect(row.counts).toMatchObject({ read: rejected.length, rejected: rejected.length });
    expect(await readImportErrors(opened, row.id)).not.toContain(address);
    const header = 'id,iccid,activationDate,expirationDate,createdDate,product.id,device_id,auto_renew,email';
    for (const cell of [`${address}"`, `"${address}"x`, `"${address}`]) {
      const text = `${header}\n1,2,3,4,5,6,7,8,${cell}\n`;
      await runHere(['import', '-', '--format', 'csv', '--tenant', tenant], opened.environment, text);
      const { result, error } = await newest(tenant);
      expect([result, error]).toEqual(['failed', expect.stringContaining('up to line ')]);
      expect(error).not.toContain(address);
    }
  });

  test('has the reason and the counts of an import that failed, and nothing of one that was rejected because another was running', async () => {
    const tenant = await makeTenant('failed');
    const broken = (async function* () {
      yield Buffer.from(`${rows.slice(0, 5).join('\n')}\n`);
      throw new Error('the disk went away');
    })();
    const importing = withHistory(
      store,
      originOf(tenant),
      () => undefined,
      (follow) =>
        importRecords(store, tenant, broken, follow({ format: 'ndjson', dryRun: false, onRejected: () => undefined })),
    );
    await expect(importing).rejects.toThrow('the disk went away');
    const failed = await newest(tenant);
    expect(failed).toMatchObject({ result: 'failed', error: 'the disk went away', counts: { read: 5 } });
    const strict = await importText(tenant, bad, '--strict');
    expect([strict.code, (await newest(tenant)).error]).toEqual([1, expect.stringContaining('nothing was loaded')]);
    const lock = await store.lockImport(tenant);
    expect((await importText(tenant, bad)).stderr).toContain('another one is running');
    await lock?.release();
    expect(await listImports(opened, { tenant }, 10)).toHaveLength(2);
  });

  test('shows an import as interrupted once no process holds the import lock of its tenant', async () => {
    const tenant = await makeTenant('killed');
    const lock = await store.lockImport(tenant);
    await putImport(store, rowOf(tenant, Date.now()));
    expect(await newest(tenant)).toMatchObject({ result: 'running', endedAt: null, counts: null });
    await lock?.release();
    const seen = await newest(tenant);
    expect(seen).toMatchObject({ result: 'interrupted', endedAt: null, counts: null });
    expect(await listImports(opened, { result: 'running' }, 10)).toEqual([]);
    expect(await showImport(opened, seen.id)).toEqual(seen);
  });

  test('is served to operators: a page, one import, and its rejected rows as NDJSON', async () => {
    const tenant = await makeTenant('served');
    await importText(tenant, [...rows, bad].join('\n'));
    await importText(tenant, bad, '--strict');
    const management = await startManagement({ ...opened, close: async () => undefined });
    try {
      const token = await management.operatorToken('operator:read');
      const page = (query: string) =>
        management.send('GET', `/operator/v1/imports?tenant=${tenant}${query}`, { token });
      const first = (await page('&limit=1')).body;
      expect(first.data).toEqual([describeImport(await newest(tenant))]);
      const second = (await page(`&limit=1&cursor=${first.next}`)).body;
      expect([second.data[0], second.next]).toMatchObject([{ result: 'ok', read: 21, rejected: 1 }, null]);
      expect((await page('&result=ok')).body.data).toEqual(second.data);
      const { id } = second.data[0];
      const one = await management.send('GET', `/operator/v1/imports/${id}`, { token });
      expect([one.body, Check(Import, one.body)]).toEqual([second.data[0], true]);
      const headers = { authorization: `Bearer ${token}` };
      const errors = await management.app.inject({ url: `/operator/v1/imports/${id}/errors`, headers });
      expect([errors.headers['content-type'], errors.payload]).toEqual([
        'application/x-ndjson; charset=utf-8',
        await readImportErrors(opened, id),
      ]);
      expect((await management.send('GET', '/operator/v1/imports/x', { token })).status).toBe(404);
    } finally {
      await management.close();
    }
  });

  test('lists the newest first, continues after an id, and filters by tenant and result', async () => {
    const [one, two] = [await makeTenant('one'), await makeTenant('two')];
    const ids = (listed: readonly { readonly id: string }[]) => listed.map(({ id }) => id);
    for (const tenant of [one, two, one, two]) await importText(tenant, rows[0] ?? '');
    await importText(one, bad, '--strict');
    const all = await listImports(opened, {}, 5);
    expect(all.map(({ tenant }) => tenant)).toEqual([one, two, one, two, one]);
    expect(ids(all)).toEqual(ids(all).toSorted().toReversed());
    expect(ids(await listImports(opened, { before: all[1]?.id }, 2))).toEqual(ids(all.slice(2, 4)));
    expect(ids(await listImports(opened, { tenant: two }, 9))).toEqual(
      ids([1, 3].map((n) => all[n] ?? expect.unreachable())),
    );
    expect(ids(await listImports(opened, { tenant: one, result: 'failed' }, 9))).toEqual(ids(all.slice(0, 1)));
    expect(ids(await listImports(opened, { result: 'failed' }, 1))).toEqual(ids(all.slice(0, 1)));
  });

  test('counts a tenant by its last import without a rejected row that was not a dry run', async () => {
    const tenant = await makeTenant('good');
    const goodAt = async () => (await listLatestImports(store, tenant, tenant))[0]?.goodAt;
    await importText(tenant, rows.join('\n'), '--dry-run');
    expect(await goodAt()).toBeUndefined();
    await importText(tenant, bad);
    expect(await goodAt()).toBeNull();
    const before = await countTenantsByImport(store, nowSeconds());
    await importText(tenant, rows.join('\n'));
    const { endedAt, startedAt, id } = await newest(tenant);
    expect(await listLatestImports(store, tenant, tenant)).toEqual([
      { tenant, last: { id, startedAt, endedAt, result: 'ok', read: 20, rejected: 0 }, goodAt: endedAt },
    ]);
    await importText(tenant, bad);
    expect(await goodAt()).toBe(endedAt);
    expect(await readLastGoodImport(store)).toBe(endedAt);
    const counts = await countTenantsByImport(store, nowSeconds());
    expect(counts).toEqual({ ...before, hour: before.hour + 1, never: before.never - 1 });
    const later = await countTenantsByImport(store, nowSeconds() + 30 * 3_600);
    expect([later.hour, later.day, later.week, later.never]).toEqual([0, 0, before.hour + 1, before.never - 1]);
  });

  test('each tenant of a list has its last import in short, unless the history has dropped it', async () => {
    const tenant = await makeTenant('short');
    const last = async () => describeTenant(await showTenant(opened, tenant)).last_import;
    await importText(tenant, [...rows, bad].join('\n'));
    const { id, started_at, ended_at } = describeImport(await newest(tenant));
    expect(await last()).toEqual({
      id,
      started_at,
      ended_at,
      result: 'ok',
      accepted: rows.length,
      outcome: 'loaded-with-rejects',
      rejected: 1,
    });
    await importText(tenant, bad, '--strict', '--dry-run');
    const listed = (await listTenants(opened, '', 100)).map(describeTenant);
    expect(listed.find((each) => each.tenant === tenant)).toMatchObject({ last_import: { id } });
    await putImport(store, { ...rowOf(tenant, Date.now()), result: 'running' });
    expect(await last()).toMatchObject({ ended_at: null, result: 'interrupted', rejected: null });
    await removeImports(store, tenant, afterAllIds, 10);
    expect(await last()).toBeNull();
  });

  test('the imports of a day are counted without dry runs', async () => {
    const tenant = await makeTenant('tried');
    const failures = async () =>
      (await countImports(store, '')).find(({ via, result }) => via === 'command' && result === 'failed')?.imports ?? 0;
    const before = await failures();
    await importText(tenant, bad, '--strict', '--dry-run');
    expect(await failures()).toBe(before);
    await importText(tenant, bad, '--strict');
    expect(await failures()).toBe(before + 1);
  });

  test('drops imports after the days that it is kept, with their rejected rows, and no others', async () => {
    const tenant = await makeTenant('swept');
    const [old, young] = [rowOf(tenant, Date.now() - 91 * dayMs), rowOf(tenant, Date.now() - 89 * dayMs)];
    for (const row of [old, young]) {
      await putImport(store, { ...row, result: 'ok' });
      await putRejections(store, tenant, row.id, '{}\n');
    }
    expect(await sweepImports(store, { nowMs: Date.now(), days: 90 })).toBe(1);
    await expect(readImportErrors(opened, old.id)).rejects.toThrow(`current value is '${old.id}'`);
    expect(await readImportErrors(opened, young.id)).toBe('{}\n');
    await putImport(store, old); // as if only this row had been left
    expect(await readImportErrors(opened, old.id)).toBe('');
  });

  test('a tenant whose rows cannot be removed, as its node is lost, does not stop the sweep of the others', async () => {
    const [lost, ...others] = [await makeTenant('a-lost'), await makeTenant('b-there'), await makeTenant('c-there')];
    const ids: string[] = [];
    for (const [n, tenant] of [lost, ...others].entries()) {
      const row = rowOf(tenant, Date.UTC(2026, 0, 2) + n);
      await putImport(store, { ...row, result: 'ok' });
      if (tenant !== lost) ids.push(row.id);
    }
    const failure = new StorageError('UNAVAILABLE', 'its node is lost');
    const losing = new Proxy(store, {
      get(target, name: keyof Store) {
        const member = target[name];
        if (name === 'writeTenant')
          return (tenant: TenantId, statements: Parameters<Store['writeTenant']>[1]) =>
            tenant === lost ? Promise.reject(failure) : target.writeTenant(tenant, statements);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await expect(sweepImports(losing, { nowMs: Date.UTC(2026, 5, 1), days: 90 })).rejects.toBe(failure);
    const left = await listImportRows(store, {}, 1_000);
    expect(left.filter(({ id }) => ids.includes(id))).toEqual([]);
    expect(left.filter(({ tenant }) => tenant === lost)).toHaveLength(1);
  });

  test('keeps at most 8 MiB of the rejected rows of a tenant, those of the newest imports', async () => {
    const [tenant, other] = [await makeTenant('flooding'), await makeTenant('beside')];
    const countOf = () =>
      store.readTenant(tenant, async (reader) => {
        const [row] = await reader.all('select count(*) as n from import_rejection where tenant_id = $1');
        return Number(row?.n);
      });
    const lines = 'é'.repeat(65_000); // 130,000 bytes
    const idAt = (n: number) => rowOf(tenant, Date.UTC(2026, 0, 1) + n).id;
    // one id of this tenant, and one that is newer than all of its own
    for (const n of [0, 2_000]) await putRejections(store, other, idAt(n), lines);
    for (let n = 0; n < 70; n += 1) await putRejections(store, tenant, idAt(n), lines);
    expect(await countOf()).toBe(64);
    const kept = await Promise.all([5, 6, 69].map((n) => readRejections(store, tenant, idAt(n))));
    expect(kept.map(({ length }) => length)).toEqual([0, lines.length, lines.length]);
    const more = Array.from({ length: 1_010 }, (_, n) => idAt(70 + n));
    // all but the last ones in one transaction: `putRejections` sorts them all each time
    await store.writeTenant(
      tenant,
      more.slice(0, -3).map((id) => ({ sql: insertRejection, values: [id] })),
    );
    for (const id of more.slice(-3)) await putRejections(store, tenant, id, '{}\n');
    expect(await countOf()).toBe(1_000);
    expect(await readRejections(store, tenant, idAt(79))).toBe('');
    expect(await readRejections(store, tenant, idAt(80))).toBe('{}\n');
    for (const n of [0, 2_000]) expect(await readRejections(store, other, idAt(n))).toBe(lines);
  });

  test('keeps the newest 10,000 imports of a tenant', async () => {
    const [tenant, other] = [await makeTenant('busy'), await makeTenant('quiet')];
    const firstMs = Date.UTC(2026, 0, 1);
    // older and newer than all of this tenant
    for (const ms of [firstMs - 1, firstMs + 20_000])
      await putImport(store, { ...rowOf(other, ms), result: 'ok', endedAt: 1 });
    const ids = Array.from({ length: 10_000 }, (_, n) => rowOf(tenant, firstMs + n).id);
    // `putImport` counts them all each time
    await store.writeDirectory(ids.map((id) => directoryStatement(insertImport, [id, tenant])));
    const last = { ...rowOf(tenant, firstMs + 10_000), result: 'ok' as const, endedAt: 1 };
    await putImport(store, last);
    const listed = await listImportRows(store, { tenant }, 20_000);
    expect([listed.length, listed[0]?.id, listed.at(-1)?.id]).toEqual([10_000, last.id, rowOf(tenant, firstMs + 1).id]);
    expect(await listImportRows(store, { tenant: other }, 10)).toHaveLength(2);
  });

  test('goes with its tenant: a new tenant of the name has none of it', async () => {
    const tenant = await makeTenant('deleted');
    await importText(tenant, bad);
    const row = await newest(tenant);
    expect((await runHere(['tenant', 'delete', tenant, '--yes'], opened.environment)).code).toBe(0);
    await expect(showImport(opened, row.id)).rejects.toThrow('Cannot find the import');
    await makeTenant('deleted');
    expect(await listLatestImports(store, tenant, tenant)).toEqual([]);
    await putImport(store, row); // the rejected rows are gone too
    expect(await readImportErrors(opened, row.id)).toBe('');
  });
});

// the condition only satisfies the type
const insertRejection: TenantStatement['sql'] = `insert into import_rejection (tenant_id, import_id, row_lines) values ($1, $2, '{}\n')
  on conflict (tenant_id, import_id) do update set row_lines = excluded.row_lines where import_rejection.tenant_id = $1`;
const insertImport =
  `insert into import_history (id, tenant_id, started_at, actor_kind, actor_id, via, format, options, result)
  values ($1, $2, 0, 'command', 'ada', 'command', 'csv', '', 'running')` as const;

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const originOf = (tenant: TenantId): ImportOrigin => ({
  tenant,
  actor: { kind: 'client', clientId: 'feed', address: '10.0.0.9' },
  via: 'http',
  format: 'ndjson',
  flags: [],
});

/** An import that is stored as running. */
const rowOf = (tenant: TenantId, startedMs: number) => ({
  ...{ id: `${firstImportIdAt(startedMs)}-7000-8000-000000000000`, tenant, startedAt: Math.floor(startedMs / 1000) },
  ...{ actorKind: 'command', actorId: 'ada', actorName: null, address: null, via: 'command', format: 'csv' },
  ...({
    options: [],
    columns: null,
    result: 'running',
    endedAt: null,
    error: null,
    counts: null,
    revision: null,
  } as const),
});
