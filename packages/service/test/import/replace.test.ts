import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { loadAtOnce } from '../../import/load-at-once.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { countedChangesMax } from '../../storage/counts/count-changes.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { listImportRows } from '../../storage/tables/import-history.ts';
import { readRevision } from '../../storage/tables/tenant-revision.ts';

const rows = [...syntheticRows({ count: 3_000, seed: 8, until: 1_767_225_600 })];
const ndjson = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const changed = (row: SyntheticRow): SyntheticRow => ({ ...row, status: 'CHANGED' });

const superuser = { engine: 'postgres as a superuser', openTestStore: () => openPostgres('postgres') } as const;

/** The engine on which a run replaces many records. */
const drawn = drawOne(engines, import.meta.url).map(({ engine }) => engine as string);

describe.each([...engines, superuser])('a replacement on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const makeTenant = (name: string) => addTenant(store, name);
  type How = { readonly replace?: boolean; readonly dryRun?: boolean; readonly remove?: number };
  const replace = (tenant: TenantId, text: string | Buffer, how: How = {}) => {
    const source = (async function* () {
      yield Buffer.from(text);
    })();
    const options = { format: 'ndjson', onRejected: () => undefined, dryRun: false, replace: true } as const;
    return loadAtOnce(store, tenant, source, { ...options, ...how });
  };
  /** All data of a tenant in one snapshot. */
  const stateOf = (tenant: TenantId) =>
    store.readTenant(tenant, async (reader) => ({
      revision: await readRevision(reader),
      rows: await reader.all('select id, revision, record, email from subscription where tenant_id = $1 order by id'),
      tombstones: await reader.all('select id, revision from subscription_tombstone where tenant_id = $1 order by id'),
      problems: (await checkCounts(reader)).problems,
    }));
  const endLockConnections = async (): Promise<void> => {
    const client = await connectPostgres(opened.environment.DATABASE_URL);
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'subreport-import-lock' and datname = current_database()",
    );
    await client.end();
  };
  const idsOf = (values: readonly { id: string }[]) => values.map(({ id }) => id).toSorted();

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    await store.migrate(); // as a superuser this also creates the role that transactions switch to
  });
  afterAll(() => opened.close());

  test('replaces all records in one revision: missing ones become tombstones, equal ones keep their revision', async () => {
    const tenant = await makeTenant('whole');
    const other = await makeTenant('other');
    await replace(other, ndjson(rows.slice(0, 10)));
    const before = await stateOf(other);
    expect(await replace(tenant, ndjson(rows.slice(0, 2_000)))).toMatchObject({ inserted: 2_000, removed: 0 });
    const next = [...rows.slice(500, 1_000), ...rows.slice(1_000, 1_100).map(changed), ...rows.slice(1_990, 2_500)];
    const counts = { read: 1_110, inserted: 500, updated: 100, unchanged: 510, removed: 1_390 };
    expect(await replace(tenant, ndjson(next), { dryRun: true, remove: 1_390 })).toMatchObject(counts);
    expect((await stateOf(tenant)).revision).toBe(1);
    expect(await replace(tenant, ndjson(next), { remove: 1_390 })).toMatchObject(counts);
    const state = await stateOf(tenant);
    expect(state.revision).toBe(2);
    expect(state.problems).toEqual([]);
    expect(state.rows.map(({ id }) => id)).toEqual(idsOf(next));
    const kept = new Set([...rows.slice(500, 1_000), ...rows.slice(1_990, 2_000)].map(({ id }) => id));
    for (const row of state.rows) expect(row.revision).toBe(kept.has(String(row.id)) ? 1 : 2);
    const gone = [...rows.slice(0, 500), ...rows.slice(1_100, 1_990)];
    expect(state.tombstones).toEqual(idsOf(gone).map((id) => ({ id, revision: 2 })));
    expect(await replace(tenant, ndjson(rows.slice(0, 2_000)))).toMatchObject({ inserted: 1_390, removed: 500 });
    expect((await stateOf(tenant)).tombstones).toEqual(
      idsOf(rows.slice(2_000, 2_500)).map((id) => ({ id, revision: 3 })),
    );
    expect(await replace(tenant, ndjson(rows.slice(0, 2_000)))).toMatchObject({ unchanged: 2_000, removed: 0 });
    expect((await stateOf(tenant)).revision).toBe(3);
    expect(await stateOf(other)).toEqual(before);
  });

  // whose transactions switch to the role of all others before they write
  if (engine === superuser.engine) return;

  test('updates a record if only its email has changed, and keeps the others if it is a strict load', async () => {
    const tenant = await makeTenant('emails');
    await replace(tenant, ndjson(rows.slice(0, 3)));
    const moved = rows.slice(0, 3).map((row, index) => (index === 1 ? { ...row, email: 'moved@example.com' } : row));
    expect(await replace(tenant, ndjson(moved))).toMatchObject({ updated: 1, unchanged: 2 });
    expect((await stateOf(tenant)).rows.filter(({ email }) => email === 'moved@example.com')).toHaveLength(1);
    const some = [...rows.slice(0, 1).map(changed), ...rows.slice(2, 5)];
    const counts = { inserted: 2, updated: 1, unchanged: 1 };
    expect(await replace(tenant, ndjson(some), { replace: false })).toMatchObject(counts);
    const { rows: stored, tombstones } = await stateOf(tenant);
    expect([stored.map(({ id }) => id), tombstones]).toEqual([idsOf(rows.slice(0, 5)), []]);
  });

  test('of a zstd source that is truncated between its frames changes nothing (T2)', async () => {
    const tenant = await makeTenant('truncated');
    await replace(tenant, ndjson(rows.slice(0, 20)));
    const [first, second] = [rows.slice(0, 10), rows.slice(10, 20)].map((half) => zstdCompressSync(ndjson(half))) as [
      Buffer,
      Buffer,
    ];
    for (const kept of [1, 2, 3]) {
      const source = Buffer.concat([first, second.subarray(0, kept)]);
      await expect(replace(tenant, source)).rejects.toMatchObject({ code: 'UNREADABLE' });
    }
    expect((await stateOf(tenant)).rows.map(({ id }) => id)).toEqual(idsOf(rows.slice(0, 20)));
    expect(await replace(tenant, Buffer.concat([first, second]))).toMatchObject({ unchanged: 20, removed: 0 });
  });

  test.runIf(drawn.includes(engine))(`of more than ${countedChangesMax} records counts them all`, async () => {
    const tenant = await makeTenant('many');
    const many = [...syntheticRows({ count: countedChangesMax + 100, seed: 9, until: 1_767_225_600 })];
    expect(await replace(tenant, ndjson(many))).toMatchObject({ inserted: many.length });
    expect((await stateOf(tenant)).problems).toEqual([]);
    const remove = many.length - 100;
    expect(await replace(tenant, ndjson(many.slice(0, 100)), { remove })).toMatchObject({ removed: remove });
    expect((await stateOf(tenant)).problems).toEqual([]);
  });

  test('by a source with a rejected row or truncated changes nothing', async () => {
    const tenant = await makeTenant('refused');
    await replace(tenant, ndjson(rows.slice(0, 10)));
    const before = await stateOf(tenant);
    const bad = await replace(tenant, `${ndjson(rows.slice(0, 5))}{}\n`);
    expect(bad).toMatchObject({ read: 6, rejected: 1, removed: 0, refused: { code: 'BAD_ROWS' } });
    const cut = `${ndjson(rows.slice(0, 5))}{"summary":{"rows":9,"sha256":"${'0'.repeat(64)}"}}\n`;
    await expect(replace(tenant, cut)).rejects.toMatchObject({ code: 'UNREADABLE' });
    expect(await stateOf(tenant)).toEqual(before);
  });

  test.each([
    { stored: 40, kept: 20, refused: undefined },
    { stored: 40, kept: 19, refused: '21 of 40' },
    { stored: 38, kept: 19, refused: undefined },
    { stored: 39, kept: 19, refused: '20 of 39' },
    { stored: 20, kept: 1, refused: undefined },
    { stored: 1, kept: 0, refused: '1 of 1' },
    { stored: 10, kept: 0, refused: '10 of 10' },
    { stored: 0, kept: 0, refused: undefined },
  ])(
    'that keeps $kept of $stored records needs the number of the removed ones: $refused',
    async ({ stored, kept, refused }) => {
      const tenant = await makeTenant(`guarded-${stored}-${kept}`);
      await replace(tenant, ndjson(rows.slice(0, stored)));
      const before = await stateOf(tenant);
      const [source, removed] = [ndjson(rows.slice(stored - kept, stored)), stored - kept];
      for (const how of refused === undefined ? [] : [{}, { dryRun: true }, { remove: removed - 1 }])
        await expect(replace(tenant, source, how)).rejects.toMatchObject({
          code: 'REMOVES_MANY',
          message: expect.stringMatching(
            new RegExp(`${refused} must be confirmed.*--remove ${removed},.*; nothing was changed$`),
          ),
        });
      expect(await stateOf(tenant)).toEqual(before);
      const how = refused === undefined ? {} : { remove: removed };
      expect(await replace(tenant, source, { ...how, dryRun: true })).toMatchObject({ removed, unchanged: kept });
      expect(await replace(tenant, source, how)).toMatchObject({ removed, unchanged: kept });
    },
  );

  test('changes nothing if the import lock is lost before all rows are read', async () => {
    const tenant = await makeTenant('unlocked');
    await replace(tenant, ndjson(rows.slice(0, 10)));
    const before = await stateOf(tenant);
    const locking = vi.spyOn(store, 'lockImport');
    const source = (async function* () {
      yield Buffer.from(ndjson(rows.slice(5, 15)));
      const lock = await locking.mock.results[0]?.value;
      if (engine === 'sqlite') await lock.release();
      else await endLockConnections();
      await eventually(() => expect(lock.isHeld()).toBe(false));
    })();
    const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
    await expect(loadAtOnce(store, tenant, source, { ...options, replace: true })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('nothing was changed'),
    });
    locking.mockRestore();
    expect(await stateOf(tenant)).toEqual(before);
    expect(await replace(tenant, ndjson(rows.slice(5, 15)))).toMatchObject({ inserted: 5, removed: 5 });
  });

  test('is seen completely or not at all by concurrent readers', async () => {
    const tenant = await makeTenant('seen');
    await replace(tenant, ndjson(rows));
    let over = false;
    const replacing = replace(tenant, ndjson(rows.map(changed))).finally(() => {
      over = true;
    });
    const seen = new Set<string>();
    while (!over) {
      const [row] = await store.readTenant(tenant, (reader) =>
        reader.all(
          `select count(*) as n, sum(case when status = 'CHANGED' then 1 else 0 end) as changed from subscription where tenant_id = $1`,
        ),
      );
      seen.add(`${row?.n} ${row?.changed}`);
      await sleep(1);
    }
    await replacing;
    expect([...seen].filter((each) => !['3000 0', '3000 3000'].includes(each))).toEqual([]);
  });

  test('of any records by any others leaves exactly the others', async () => {
    const tenant = await makeTenant('any');
    const some = fc.array(fc.record({ at: fc.nat(200), isChanged: fc.boolean() }), { maxLength: 120 });
    await checkProperty(
      fc.asyncProperty(some, async (picks) => {
        const source = picks.map(({ at, isChanged }) => {
          const row = rows[at] as SyntheticRow;
          return isChanged ? changed(row) : row;
        });
        const before = await stateOf(tenant);
        const last = new Map(source.map((row) => [row.id, row]));
        const gone = before.rows.map(({ id }) => String(id)).filter((id) => !last.has(id));
        const summary = await replace(tenant, ndjson(source), { remove: gone.length });
        const state = await stateOf(tenant);
        expect(state.problems).toEqual([]);
        expect(state.rows.map(({ id, record }) => [id, JSON.parse(String(record))])).toEqual(
          [...last.values()]
            .map(({ email: _email, ...record }) => [record.id, record] as const)
            .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
        );
        expect(summary.removed).toBe(gone.length);
        expect(state.tombstones.map(({ id }) => id)).toEqual(expect.arrayContaining(gone));
        expect(state.tombstones.filter(({ id }) => last.has(String(id)))).toEqual([]);
      }),
      { least: 5, most: 25 },
    );
  });

  test('from the command line, killed before its end, changes nothing', async () => {
    const tenant = await makeTenant('killed');
    await replace(tenant, ndjson(rows.slice(0, 100)));
    const before = await stateOf(tenant);
    const folder = mkdtempSync(join(tmpdir(), 'subreport-replace-'));
    const file = join(folder, 'pipe.ndjson');
    execFileSync('mkfifo', [file]);
    const { child, ended } = startCommand(['import', file, '--tenant', 'killed', '--replace'], opened);
    const pipe = createWriteStream(file);
    pipe.on('error', () => undefined);
    // all read except what the pipe and the row reader buffer
    await new Promise((resolve) => pipe.write(ndjson(rows), resolve));
    await eventually(async () =>
      expect(await listImportRows(opened.store, { tenant, result: 'running' }, 1)).toHaveLength(1),
    );
    child.kill('SIGKILL');
    await ended;
    pipe.destroy();
    expect(await stateOf(tenant)).toEqual(before);
    rmSync(folder, { recursive: true });
  });

  test('from the command line reports its result, and rejects contradicting options', async () => {
    await makeTenant('command');
    const folder = mkdtempSync(join(tmpdir(), 'subreport-replace-'));
    const run = async (values: readonly object[], ...options: string[]) => {
      const file = join(folder, 'rows.ndjson');
      writeFileSync(file, ndjson(values));
      return runHere(['import', file, '--tenant', 'command', ...options], opened.environment);
    };
    await run(rows.slice(0, 20));
    expect((await run(rows.slice(5, 20), '--replace', '--dry-run')).stdout).toContain('would be 0 inserted');
    const { stdout, code } = await run(rows.slice(5, 22), '--replace', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ inserted: 2, unchanged: 15, removed: 5 }),
    ]);
    const bad = await run([{}], '--replace', '--json');
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('nothing was changed')]);
    expect(JSON.parse(bad.stdout)).toMatchObject({ rejected: 1, removed: 0 });
    const emptied = await run([], '--replace');
    expect([emptied.code, emptied.stderr]).toEqual([1, expect.stringContaining('17 of 17')]);
    expect((await run([], '--remove', '17')).code).toBe(2);
    expect((await run([], '--replace', '--remove', '17')).stdout).toContain('17 removed');
    rmSync(folder, { recursive: true });
  });
});
