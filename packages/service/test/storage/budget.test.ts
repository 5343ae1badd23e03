import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { importRecords, importWhole } from '../../import/import-records.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import { openStore } from '../../storage/open-store.ts';
import { directoryStatement, type Store, type TenantId, type TenantSql } from '../../storage/store.ts';
import { beginHistory, readHistory } from '../../storage/tables/history.ts';
import { sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const bytesMax = 2 ** 20;
const overBudget = { code: 'OVER_BUDGET' };

const versionsOf: TenantSql = 'select count(*) as n from subscription_version where tenant_id = $1';
const tombstonesOf: TenantSql = 'select count(*) as n from subscription_tombstone where tenant_id = $1';

/** Rows with ids from 0 on, whose records have some ten kilobytes: more bytes than characters. */
const largeRows = (count: number, version: number, bodyBytes = 10_000) =>
  Array.from({ length: count }, (_, n) => {
    const row = subscriptionRow({ id: `id-${n}`, createdDate: 1_700_000_000 + n, deviceId: `device-${version}` });
    const record = {
      ...JSON.parse(row.record),
      product: { ...JSON.parse(row.record).product, name: `Ü${'n'.repeat(bodyBytes)}` },
    };
    return { ...row, record: JSON.stringify(record), email: `fleet-${n}@exämple.org` };
  });

describe.each(engines)('the storage budget on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  /** The store with the budget, as a service has it. */
  let store: Store;

  const open = (tenantBytesMax: number, keepsHistory = true): Store => {
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    return openStore({
      databaseUrl,
      dataDir,
      poolSize: 2,
      onConnectionError: () => undefined,
      tenantBytesMax,
      keepsHistory,
    });
  };
  const newTenant = () => addTenant(store, undefined, 1_700_000_000);
  const chargeOf = async (tenant: TenantId): Promise<number> => (await findTenant(store, tenant))?.chargedBytes ?? -1;
  const problemsOf = async (tenant: TenantId) =>
    (await store.readTenant(tenant, (reader) => checkRecords(reader))).problems;
  const historyOf = (tenant: TenantId) => store.readTenant(tenant, readHistory);
  const countOf = async (tenant: TenantId, sql: TenantSql): Promise<number> =>
    Number((await store.readTenant(tenant, (reader) => reader.all(sql)))[0]?.n);
  /** The kept commits, in their order. */
  const commitsOf = async (tenant: TenantId) => {
    const sql = 'select revision, committed_at from subscription_commit where tenant_id = $1 order by revision';
    const rows = await store.readTenant(tenant, (reader) => reader.all(sql));
    return rows.map(({ revision, committed_at: at }) => ({ revision: Number(revision), at: Number(at) }));
  };
  const replaceAll = async (tenant: TenantId, rows: ReturnType<typeof largeRows>, isDryRun = false) => {
    const replacement = await store.openStagedLoad(tenant);
    try {
      await replacement.add(rows);
      return await replacement.finish(isDryRun);
    } finally {
      await replacement.close();
    }
  };

  beforeAll(async () => {
    opened = await openTestStore();
    store = open(bytesMax);
  });
  afterAll(async () => {
    await store.close();
    await opened.close();
  });

  test('a client that flips large records over and over stays within the budget, and the oldest history goes', async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    await store.loadSubscriptions(other, largeRows(2, 0));
    await store.loadSubscriptions(other, largeRows(2, 1));
    const before = { charge: await chargeOf(other), history: await historyOf(other) };
    const used: number[] = [];
    for (let version = 0; version < 12; version += 1) {
      // the version of one more record begins first and ends last
      await store.loadSubscriptions(tenant, largeRows(version % 11 === 0 ? 21 : 20, version));
      used.push(await chargeOf(tenant));
    }
    expect(Math.max(...used)).toBeLessThanOrEqual(bytesMax);
    expect(used.at(-1)).toBeGreaterThan(bytesMax * 0.9);
    const { kept, revision } = await historyOf(tenant);
    expect(revision).toBe(12);
    expect(kept?.from).toBeGreaterThan(5);
    expect(kept?.from).toBeLessThan(revision);
    // of the second of the first commit that is left, an older revision may have been the answer
    const commits = await commitsOf(tenant);
    expect(commits.map((commit) => commit.revision)).toEqual(Array.from(commits, (_, n) => (kept?.from ?? 0) + n));
    expect(kept?.fromSeconds).toBe((commits[0]?.at ?? 0) + 1);
    expect(await problemsOf(tenant)).toEqual([]);
    expect({ charge: await chargeOf(other), history: await historyOf(other) }).toEqual(before);
  });

  test('a load that the records alone have no room for is refused with the figures, and changes nothing', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(60, 0));
    await store.loadSubscriptions(tenant, largeRows(20, 1));
    const before = { charge: await chargeOf(tenant), history: await historyOf(tenant) };
    const commit = 150;
    const bytesOf = (rows: ReturnType<typeof largeRows>) =>
      rows.reduce((sum, { record, email }) => sum + Buffer.byteLength(`${record}${email}`) + 800, 0);
    const needed = bytesOf(largeRows(110, 0)) + commit;
    const stored = bytesOf([...largeRows(20, 1), ...largeRows(60, 0).slice(20)]);
    const message = expect.stringMatching(
      new RegExp(`budget of ${bytesMax} bytes .*they need ${needed} bytes, ${needed - commit - stored} more than now`),
    );
    await expect(store.loadSubscriptions(tenant, largeRows(110, 0))).rejects.toMatchObject({ ...overBudget, message });
    for (const isDryRun of [true, false])
      await expect(replaceAll(tenant, largeRows(110, 0), isDryRun)).rejects.toMatchObject({ ...overBudget, message });
    expect({ charge: await chargeOf(tenant), history: await historyOf(tenant) }).toEqual(before);
    expect(await countOf(tenant, 'select count(*) as n from subscription where tenant_id = $1')).toBe(60);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('a replacement makes room in the history like a load', async () => {
    const tenant = await newTenant();
    for (let version = 0; version < 8; version += 1) await replaceAll(tenant, largeRows(40, version));
    expect(await chargeOf(tenant)).toBeLessThanOrEqual(bytesMax);
    const { kept } = await historyOf(tenant);
    expect(kept?.from).toBeGreaterThanOrEqual(5);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('what is removed and what is erased is subtracted, and tombstones are charged', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(10, 0, 100));
    const loaded = await chargeOf(tenant);
    await removeRecords(store, tenant, ['id-0', 'id-1']);
    // two versions and two tombstones instead of two records, and a commit
    expect(await chargeOf(tenant)).toBe(loaded + 2 * (300 + 200 - 800) + 150);
    const removed = await chargeOf(tenant);
    const [row] = largeRows(1, 1, 100);
    await store.loadSubscriptions(tenant, largeRows(1, 1, 100));
    expect(await chargeOf(tenant)).toBe(removed + Buffer.byteLength(`${row?.record}${row?.email}`) + 800 - 200 + 150);
    await store.deleteSubscriptions(tenant, ['id-2', 'id-0']);
    expect(await problemsOf(tenant)).toEqual([]);
    await store.sweepTombstones(tenant, 4, 10);
    await sweepVersions(store, { nowSeconds: 1_900_000_000, days: 0 });
    expect(await countOf(tenant, versionsOf)).toBe(0);
    expect(await countOf(tenant, tombstonesOf)).toBe(0);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('erased versions are charged, and go with the history before them', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(10, 0, 100));
    await store.loadSubscriptions(tenant, largeRows(10, 1, 100));
    const erasures: TenantSql = 'select count(*) as n from subscription_erasure where tenant_id = $1';
    const expectCharged = async (noted: number): Promise<void> => {
      const texts = 'octet_length(record) + coalesce(octet_length(email), 0)';
      const sums = [
        `select sum(${texts} + 800) as n from subscription where tenant_id = $1`,
        `select coalesce(sum(${texts} + 300), 0) as n from subscription_version where tenant_id = $1`,
        'select count(*) * 150 as n from subscription_commit where tenant_id = $1',
        'select count(*) * 200 as n from subscription_tombstone where tenant_id = $1',
      ] as const;
      const others = await Promise.all(sums.map((sql) => countOf(tenant, sql)));
      expect(await countOf(tenant, erasures)).toBe(noted);
      expect(await chargeOf(tenant)).toBe(others.reduce((sum, n) => sum + n) + noted * 100);
      expect(await problemsOf(tenant)).toEqual([]);
    };
    await store.deleteSubscriptions(tenant, ['id-0', 'id-1']);
    await expectCharged(4);
    await store.deleteSubscriptions(tenant, ['id-2']);
    await expectCharged(6);
    const begin = async (): Promise<number> => Number((await historyOf(tenant)).kept?.from);
    for (let version = 2; (await begin()) < 2; version += 1)
      await store.loadSubscriptions(tenant, largeRows(20, version));
    const from = await begin();
    await expectCharged([2, 2, 2, 3, 3, 4].filter((until) => until > from).length);
    for (let version = 0; version < 12; version += 1) await store.loadSubscriptions(tenant, largeRows(20, version));
    await expectCharged(0);
    await store.deleteSubscriptions(tenant, ['id-3']);
    await sweepVersions(store, { nowSeconds: 1_900_000_000, days: 0 });
    await expectCharged(0);
  });

  test('a tenant above a lowered budget can still remove records and update them with smaller ones', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(60, 0));
    const small = open(2 ** 17);
    try {
      await expect(small.loadSubscriptions(tenant, largeRows(61, 0))).rejects.toMatchObject(overBudget);
      await small.loadSubscriptions(tenant, largeRows(10, 1)); // as large as before
      await small.loadSubscriptions(tenant, largeRows(10, 2, 9_000));
      const ids = largeRows(58, 0).map(({ id }) => id);
      await removeRecords(small, tenant, ids);
      expect(await chargeOf(tenant)).toBeLessThanOrEqual(2 ** 17);
      expect(await problemsOf(tenant)).toEqual([]);
    } finally {
      await small.close();
    }
  });

  test('once the history is gone, the oldest tombstones go, and change tokens before them are rejected', async () => {
    const tenant = await newTenant();
    const rows = largeRows(300, 0, 10);
    const small = open(310_000);
    try {
      for (let round = 0; round < 6; round += 1) {
        const renamed = rows.map((row) => ({
          ...row,
          id: `${row.id}-${round}`,
          record: row.record.replace(row.id, `${row.id}-${round}`),
        }));
        const gone = round === 0 ? [] : rows.map(({ id }) => `${id}-${round - 1}`);
        await removeRecords(small, tenant, gone.slice(0, 200), renamed.slice(0, 200));
      }
      const { revision, sweptRevision, kept } = await historyOf(tenant);
      expect(await chargeOf(tenant)).toBeLessThanOrEqual(310_000);
      expect(sweptRevision).toBeGreaterThan(0);
      expect(sweptRevision).toBeLessThanOrEqual(revision);
      expect(kept?.from).toBeGreaterThanOrEqual(sweptRevision);
      // the oldest went first: none is left that is older than one that was removed
      const older: TenantSql =
        'select count(*) as n from subscription_tombstone where tenant_id = $1 and revision < $2';
      const [row] = await store.readTenant(tenant, (reader) => reader.all(older, [sweptRevision]));
      expect(Number(row?.n)).toBe(0);
      expect(await problemsOf(tenant)).toEqual([]);
    } finally {
      await small.close();
    }
  });

  test('a restore keeps what a tenant is charged', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(2, 0));
    const before = await chargeOf(tenant);
    await beginHistory(store, 1_800_000_000);
    expect(await chargeOf(tenant)).toBe(before);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('doctor finds bytes that differ from the rows, and its repair counts them again', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(5, 0));
    const charge = await chargeOf(tenant);
    await store.writeDirectory([
      directoryStatement('update tenant set charged_bytes = charged_bytes - 1 where id = $1', [tenant]),
    ]);
    expect(await problemsOf(tenant)).toEqual([`The tenant is charged ${charge - 1} bytes, ${charge} are there`]);
    await store.recountSubscriptions(tenant, 1_700_000_000);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('a program without history charges none', async () => {
    const tenant = await newTenant();
    const other = open(bytesMax, false);
    try {
      await other.loadSubscriptions(tenant, largeRows(5, 0));
      await removeRecords(other, tenant, ['id-6'], largeRows(5, 1));
      await other.deleteSubscriptions(tenant, ['id-1']);
      expect([await countOf(tenant, versionsOf), await countOf(tenant, tombstonesOf)]).toEqual([0, 1]);
      expect(await problemsOf(tenant)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('a program without history makes room in the one that there is, and counts what is left of it', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, largeRows(20, 0));
    for (let version = 1; version < 4; version += 1)
      await removeRecords(store, tenant, ['id-20'], largeRows(20, version));
    const versions = await countOf(tenant, versionsOf);
    const other = open((await chargeOf(tenant)) - 50_000, false);
    try {
      await removeRecords(other, tenant, ['id-19'], largeRows(19, 4));
    } finally {
      await other.close();
    }
    expect(versions - (await countOf(tenant, versionsOf))).toBeGreaterThan(0);
    expect(await problemsOf(tenant)).toEqual([]);
  });

  test('a strict import without room loads nothing, an ordinary one the batches before', async () => {
    const tenant = await newTenant();
    const lines = largeRows(110, 0).map(({ record }) =>
      record.replace(/"Ün+"/, '"Europe"').replace('"device-0"', `"${'d'.repeat(100)}"`),
    );
    const small = open(100_000);
    const source = async function* () {
      yield Buffer.from(lines.join('\n'));
    };
    const options = { format: 'ndjson' as const, dryRun: false, onRejected: () => undefined, batchRowsMax: 20 };
    const strictly = (into = tenant) =>
      importWhole(small, into, { open: source }, { ...options, strict: true, replace: false });
    const nothing = { ...overBudget, message: expect.stringMatching(/nothing was loaded$/) };
    try {
      await expect(strictly()).rejects.toMatchObject(nothing);
      expect((await findTenant(small, tenant))?.revision).toBe(0);
      const message = expect.stringMatching(/more than now; the [1-9]\d* records before them are loaded$/);
      await expect(importRecords(small, tenant, source(), options)).rejects.toMatchObject({ ...overBudget, message });
      expect((await findTenant(small, tenant))?.revision).toBeGreaterThan(0);
      // records that are stored already need no room
      lines.splice(60);
      await strictly();
      expect(await problemsOf(tenant)).toEqual([]);
    } finally {
      await small.close();
    }
  });
});
