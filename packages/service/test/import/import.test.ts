import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { csvText } from '../../../../test/support/csv-text.ts';
import { engines, pooledPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { storedRecords } from '../../../../test/support/stored-records.ts';
import { importRecords } from '../../import/import-records.ts';
import type { ImportFormat, RejectedRow } from '../../import/read-valid-rows.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';
import { readRecord } from '../../storage/read/records.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const rows = [...syntheticRows({ count: 2_500, seed: 3, until: 1_767_225_600 })];
const ndjson = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const recordOf = ({ email: _email, ...record }: SyntheticRow) => record;

describe.each([...engines, pooledPostgres])('an import into $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const makeTenant = (name: string) => addTenant(store, name);
  const load = async (tenant: TenantId, text: string, format: ImportFormat = 'ndjson', dryRun = false) => {
    const rejected: RejectedRow[] = [];
    const source = (async function* () {
      for (let start = 0; start < text.length; start += 65_536) yield Buffer.from(text.slice(start, start + 65_536));
    })();
    const onRejected = (row: RejectedRow): void => {
      rejected.push(row);
    };
    const { firstRecords, ...summary } = await importRecords(store, tenant, source, { format, dryRun, onRejected });
    expect(firstRecords.length).toBe(Math.min(3, summary.accepted));
    return { ...summary, errors: rejected };
  };
  const stored = (tenant: TenantId) => storedRecords(store, tenant);
  const revisionOf = async (tenant: TenantId) => (await findTenant(store, tenant))?.revision;
  const sorted = (values: readonly SyntheticRow[]) => values.map(recordOf).toSorted((a, b) => (a.id < b.id ? -1 : 1));

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  test('of rejected rows only yields to other work of the process', async () => {
    const tenant = await makeTenant('bad');
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const { rejected } = await load(tenant, '{}\n'.repeat(20_000));
    clearImmediate(next);
    expect(rejected).toBe(20_000);
    expect(turns).toBeGreaterThan(3);
  });

  test.each(['ndjson', 'csv'] as const)(
    'of %s loads every row as its record, and once more changes nothing',
    async (format) => {
      const tenant = await makeTenant(`twice-${format}`);
      const text = format === 'csv' ? csvText(rows) : ndjson(rows);
      const counts = { read: 2_500, skipped: 0, accepted: 2_500, rejected: 0, updated: 0, errors: [] };
      expect(await load(tenant, text, format)).toEqual({ ...counts, inserted: 2_500, unchanged: 0 });
      expect(await stored(tenant)).toEqual(sorted(rows));
      const revision = await revisionOf(tenant);
      expect(await load(tenant, text, format)).toEqual({ ...counts, inserted: 0, unchanged: 2_500 });
      expect(await revisionOf(tenant)).toBe(revision);
    },
  );

  test('updates changed records and no others', async () => {
    const tenant = await makeTenant('updates');
    await load(tenant, ndjson(rows.slice(0, 10)));
    const changed = rows.slice(0, 10).map((row, index) => (index < 3 ? { ...row, status: 'DEPLETED_TWICE' } : row));
    expect(await load(tenant, ndjson(changed))).toMatchObject({ inserted: 0, updated: 3, unchanged: 7 });
    expect(await stored(tenant)).toEqual(sorted(changed));
  });

  test('updates a record if only its email has changed', async () => {
    const tenant = await makeTenant('emails');
    await load(tenant, ndjson(rows.slice(0, 2)));
    const moved = rows.slice(0, 2).map((row) => ({ ...row, email: 'moved@example.com' }));
    expect(await load(tenant, ndjson(moved))).toMatchObject({ inserted: 0, updated: 2, unchanged: 0 });
  });

  test('of a file that repeats an id creates one revision, and none the second time (T4)', async () => {
    const tenant = await makeTenant('repeated');
    const [row] = rows as [SyntheticRow];
    const text = ndjson(Array.from({ length: 50 }, (_, n) => ({ ...row, status: `TRY_${n}` })));
    await load(tenant, text);
    expect(await revisionOf(tenant)).toBe(1);
    expect(await load(tenant, text)).toMatchObject({ inserted: 0, updated: 0, unchanged: 1 });
    expect(await revisionOf(tenant)).toBe(1);
  });

  test('of a source that breaks half-way keeps the loaded rows, fails, and can be run again', async () => {
    const tenant = await makeTenant('breaks');
    const broken = (async function* () {
      yield Buffer.from(ndjson(rows.slice(0, 1_500)));
      throw new Error('the disk went away');
    })();
    const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
    await expect(importRecords(store, tenant, broken, options)).rejects.toThrow('the disk went away');
    expect(await stored(tenant)).toHaveLength(1_000);
    expect(await load(tenant, ndjson(rows))).toMatchObject({ inserted: 1_500, unchanged: 1_000 });
    expect(await stored(tenant)).toEqual(sorted(rows));
  });

  test('changes only its tenant, even if another tenant has the same ids', async () => {
    const [here, there] = [await makeTenant('here'), await makeTenant('there')];
    const [row] = rows as [SyntheticRow];
    await load(here, ndjson([row]));
    expect(await load(there, ndjson([{ ...row, status: 'OTHER' }]))).toMatchObject({ inserted: 1 });
    const text = await store.readTenant(here, (reader) => readRecord(reader, row.id));
    expect(JSON.parse(text ?? '')).toEqual(recordOf(row));
  });
});
