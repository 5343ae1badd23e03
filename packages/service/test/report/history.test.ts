import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import type { SubscriptionHistory } from '../../../client/index.ts';
import { SubscriptionHistory as SubscriptionHistorySchema, versionsMax } from '../../../contract/history.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { createAuditLog } from '../../audit/audit-log.ts';
import { eraseSubscriptions } from '../../operator/erase.ts';
import { getSubscription, getSubscriptionHistory } from '../../report/get-subscription.ts';
import { parseReport } from '../../report/parse.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import { openStore } from '../../storage/open-store.ts';
import { directoryStatement, type Store, type TenantId, type TenantSql } from '../../storage/store.ts';
import { columnNames, versionColumns } from '../../storage/subscription-row.ts';
import { beginHistory } from '../../storage/tables/history.ts';
import { readHistoryUse, sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';
import { adasSim, countVersions, daySeconds, idOf, replaceAll, rowOf, type VersionOf } from './history-records.ts';
import { readerOfPast } from './read-past.ts';

const drawn = drawOne(engines, import.meta.url);

const instant = (seconds: number): string => formatInstant(seconds);
const notKept = { code: 'HISTORY_NOT_KEPT' };
/** Repeats a version for each revision up to `$2`, at which the record is the present one. */
const repeatVersion =
  `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < cast($2 as bigint) - 1)
  insert into subscription_version (${versionColumns})
  select tenant_id, n + 1, n, ${columnNames()} from subscription_version, numbers
  where tenant_id = $1 and from_revision = 1 on conflict do nothing returning id` as TenantSql;
const rethrow = (error: unknown): never => {
  throw error;
};

describe.each(drawn)('the history on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  let read: ReturnType<typeof readerOfPast>;
  const now = Math.floor(Date.now() / 1000);

  const newTenant = () => addTenant(store, undefined, 1_700_000_000);
  const revisionOf = async (tenant: TenantId): Promise<number> => (await findTenant(store, tenant))?.revision ?? 0;
  const load = (tenant: TenantId, records: readonly VersionOf[]) => store.loadSubscriptions(tenant, records.map(rowOf));

  const operator = () => {
    const audit = createAuditLog({ store, now: () => now, write: () => undefined });
    return { store, now: () => now, actor: { kind: 'command', user: 'test' } as const, audit, onUnrecorded: rethrow };
  };

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: () => now + 3_600 };
    read = readerOfPast(context);
  });
  afterAll(() => opened.close());

  test('equal data adds no version, commit or revision, loaded or replaced', async () => {
    const tenant = await newTenant();
    const records = [1, 2, 3].map((n) => ({ n, version: 1 }));
    const rowsOf = async (table: string) => {
      const sql = `select count(*) as n from ${table} where tenant_id = $1` as TenantSql;
      return Number((await store.readTenant(tenant, (reader) => reader.all(sql)))[0]?.n);
    };
    const counts = async () => [
      await revisionOf(tenant),
      await rowsOf('subscription_version'),
      await rowsOf('subscription_commit'),
    ];
    await load(tenant, records);
    await replaceAll(store, tenant, [{ n: 1, version: 2 }, ...records.slice(1)]);
    expect(await counts()).toEqual([2, 1, 2]);
    await replaceAll(store, tenant, [{ n: 1, version: 2 }, ...records.slice(1)]);
    await load(tenant, [{ n: 1, version: 2 }]);
    expect(await counts()).toEqual([2, 1, 2]);
  });

  test('an instant means the last revision that was committed before it; the history has its times', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, [rowOf({ n: 1, version: 1 })], undefined, '0189-import');
    await load(tenant, [{ n: 1, version: 2 }]);
    await spreadCommits(tenant);
    const at = async (seconds: number) => (await read.exported(tenant, 'format=ndjson', instant(seconds))).revision;
    const first = now - 100;
    const instants = [first, first + 1, first + 10, first + 11, now];
    expect(await Promise.all(instants.map(at))).toEqual([0, 1, 1, 2, 2]);
    await expect(at(first - 11)).rejects.toMatchObject(notKept);
    expect(() => parseReport(`all=true&format=csv&as-of=${instant(now + 7_200)}`, context, 'json')).toThrow(
      /a past ISO 8601 date-time/,
    );
    const { record } = await getSubscriptionHistory(context, tenant, idOf(1));
    expect(JSON.parse(record)).toMatchObject({
      id: idOf(1),
      versions: [
        { revision: 2, committed_at: instant(first + 10), record: { status: 'DEPLETED' } },
        { revision: 1, committed_at: instant(first), import_id: '0189-import', record: { status: 'ACTIVE' } },
      ],
    });
    const idsOfImports = async () => (await read.changesSince(tenant, undefined, 10)).map(({ import_id: id }) => id);
    expect(await idsOfImports()).toEqual([undefined]);
    await store.loadSubscriptions(tenant, [rowOf({ n: 2, version: 1 })], undefined, '018a-import');
    expect(await idsOfImports()).toEqual([undefined, '018a-import']);
    const old = await getSubscription(context, tenant, idOf(1), { asOf: { seconds: first + 5 } });
    expect(old.record).toBe(rowOf({ n: 1, version: 1 }).record);
    await expect(getSubscription(context, tenant, idOf(1), { asOf: { revision: 0 } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(getSubscription(context, tenant, idOf(1), { asOf: { revision: 9 } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST_PARAMS',
    });
  });

  test('a tenant has a history since it was created, also if it has the name of a deleted one', async () => {
    const tenant = 'history-of-nothing' as TenantId;
    const bodyAt = async (seconds: number) => (await read.exported(tenant, 'format=ndjson', instant(seconds))).body;
    await insertTenant(store, tenant, now - 50);
    expect(await bodyAt(now - 40)).toBe('');
    await load(tenant, [{ n: 1, version: 1 }]);
    expect(await bodyAt(now - 40)).toBe('');
    await expect(bodyAt(now - 51)).rejects.toMatchObject(notKept);
    await store.deleteSubscriptions(tenant, [idOf(1)]);
    await store.writeDirectory([directoryStatement('update tenant set deleted_at = 1 where id = $1', [tenant])]);
    expect(await insertTenant(store, tenant, now - 20)).toBe(true);
    await load(tenant, [{ n: 2, version: 1 }]);
    expect(await bodyAt(now - 10)).toBe('');
    await expect(bodyAt(now - 40)).rejects.toMatchObject(notKept);
  });

  test('a commit is no earlier than the one before it, although the clock was set back', async () => {
    const tenant = await newTenant();
    await load(tenant, [{ n: 1, version: 1 }]);
    const ahead = now + 1_000;
    await store.writeDirectory([
      directoryStatement('update tenant set history_at = $2 where id = $1', [tenant, ahead]),
    ]);
    await load(tenant, [{ n: 1, version: 2 }]);
    const { record } = await getSubscriptionHistory(context, tenant, idOf(1));
    expect(JSON.parse(record).versions[0]).toMatchObject({ revision: 2, committed_at: instant(ahead) });
  });

  test('versions are swept after the retention, and those of a discarded history at once', async () => {
    const tenant = await newTenant();
    const versions = async () =>
      (await store.readTenant(tenant, (reader) => reader.all(countVersions)))[0]?.n as number | string;
    const day = (days: number) => sweepVersions(store, { nowSeconds: now + days * daySeconds, days: 30 });
    await load(tenant, [{ n: 1, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    await day(0);
    await load(tenant, [{ n: 1, version: 3 }]);
    const use = (days: number) => readHistoryUse(store, { nowSeconds: now + days * daySeconds, days: 30 });
    const before = await use(30);
    expect(before.versions).toBeGreaterThan(1);
    const due = await use(31);
    expect(due.sweepsDue).toBeGreaterThan(before.sweepsDue);
    await day(30);
    expect([Number(await versions()), (await read.exported(tenant, 'format=ndjson', 1)).revision]).toEqual([2, 1]);
    await day(31);
    expect(await use(31)).toMatchObject({ versions: 1, sweepsDue: 0 });
    expect(Number(await versions())).toBe(1);
    await expect(read.exported(tenant, 'format=ndjson', 1)).rejects.toMatchObject(notKept);
    expect((await read.exported(tenant, 'format=ndjson', 2)).body).toBe(`${rowOf({ n: 1, version: 2 }).record}\n`);
    await store.writeDirectory([
      directoryStatement('update tenant set revision = revision + 1 where id = $1', [tenant]),
    ]);
    await expect(read.exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
    await load(tenant, [{ n: 1, version: 4 }]);
    expect((await read.exported(tenant, 'format=ndjson', 4)).body).toBe(`${rowOf({ n: 1, version: 3 }).record}\n`);
    await expect(read.exported(tenant, 'format=ndjson', 3)).rejects.toMatchObject(notKept);
    await day(31);
    expect(Number(await versions())).toBe(1);
    await sweepVersions(store, { nowSeconds: now, days: 0 });
    expect(Number(await versions())).toBe(0);
    await expect(read.exported(tenant, 'format=ndjson', 4)).rejects.toMatchObject(notKept);
    expect((await read.exported(tenant, 'format=ndjson', 5)).total).toBe(1);
  });

  test('what a tenant changes after it was noted on a day is noted on the next one, and swept', async () => {
    const tenant = await newTenant();
    const day = (days: number) => sweepVersions(store, { nowSeconds: now + days * daySeconds, days: 30 });
    await load(tenant, [{ n: 1, version: 1 }]);
    await day(0);
    await load(tenant, [{ n: 1, version: 2 }]);
    for (const days of [0, 1, 32]) await day(days);
    const [row] = await store.readTenant(tenant, (reader) => reader.all(countVersions));
    expect(Number(row?.n)).toBe(0);
  });

  test('the number of versions is right after each step of a sweep, wherever it is interrupted', async () => {
    const tenant = await newTenant();
    await load(tenant, [{ n: 1, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    await store.writeTenant(tenant, [{ sql: repeatVersion, values: [700] }]);
    await store.writeDirectory([
      directoryStatement('update tenant set revision = 700, history_revision = null where id = $1', [tenant]),
    ]);
    await store.recountSubscriptions(tenant, now);
    await load(tenant, [{ n: 1, version: 3 }]);
    const seen: (readonly string[])[] = [];
    const watched = new Proxy(store, {
      get(target, name) {
        if (name !== 'sweepHistory') return Reflect.get(target, name).bind(target);
        return async (...args: Parameters<Store['sweepHistory']>) => {
          const results = await target.sweepHistory(...args);
          seen.push((await store.readTenant(args[0], (reader) => checkRecords(reader))).problems);
          return results;
        };
      },
    });
    expect(await sweepVersions(watched, { nowSeconds: now, days: 0 })).toBeGreaterThan(500);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.flat()).toEqual([]);
  });

  test('a restore begins a new history, of which older moments and tokens know nothing', async () => {
    const tenant = await newTenant();
    await load(tenant, [{ n: 1, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    await beginHistory(store, now);
    await expect(read.exported(tenant, 'format=ndjson', 1)).rejects.toMatchObject(notKept);
    await sweepVersions(store, { nowSeconds: now, days: 30 });
    const restored = await revisionOf(tenant);
    await load(tenant, [{ n: 1, version: 3 }]);
    expect((await read.exported(tenant, 'format=ndjson', restored)).body).toBe(
      `${rowOf({ n: 1, version: 2 }).record}\n`,
    );
    await expect(read.exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
  });

  test('a wrong version is reported, and a repair begins the history again', async () => {
    const tenant = await newTenant();
    await load(tenant, [{ n: 1, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    const problems = async () => (await store.readTenant(tenant, (reader) => checkRecords(reader))).problems;
    expect(await problems()).toEqual([]);
    for (const [from, until, problem] of [
      [1, 1, 'ends before it begins'],
      [1, 9, 'ends after the last revision'],
    ] as const) {
      const sql = 'update subscription_version set from_revision = $2, until_revision = $3 where tenant_id = $1';
      await store.writeTenant(tenant, [{ sql, values: [from, until] }]);
      expect((await problems())[0]).toContain(problem);
    }
    await store.recountSubscriptions(tenant, now);
    expect(await problems()).toEqual([]);
    await expect(read.exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
  });

  test.each([
    [
      'overlaps the next one',
      'update subscription_version set from_revision = 1 where tenant_id = $1 and until_revision = 3',
    ],
    ['overlaps the record', 'update subscription set revision = 2 where tenant_id = $1 and revision = 3'],
    ['is younger than its tombstone', 'update subscription_tombstone set revision = 3 where tenant_id = $1'],
  ] as const)('a version that %s is reported, and a repair begins the history again', async (problem, sql) => {
    const tenant = await newTenant();
    for (const version of [1, 2, 3]) await load(tenant, [{ n: 1, version }]);
    if (problem.endsWith('tombstone')) await removeRecords(store, tenant, [idOf(1)]);
    const problems = async () => (await store.readTenant(tenant, (reader) => checkRecords(reader))).problems;
    expect(await problems()).toEqual([]);
    await store.writeTenant(tenant, [{ sql, values: [] }]);
    expect((await problems())[0]).toBe(`A former version of record '${idOf(1)}' ${problem}`);
    await store.recountSubscriptions(tenant, now);
    expect(await problems()).toEqual([]);
    await expect(read.exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
  });

  test('a removal whose tombstone was swept, and a new history after a clock that was ahead, are no problems', async () => {
    const tenant = await newTenant();
    const problems = async () => (await store.readTenant(tenant, (reader) => checkRecords(reader))).problems;
    await load(tenant, [{ n: 1, version: 1 }]);
    await removeRecords(store, tenant, [idOf(1)]);
    expect(await store.sweepTombstones(tenant, 2, 10)).toBe(1);
    expect(await problems()).toEqual([]);
    const ahead = 'committed_at = committed_at + 1000000 where tenant_id = $1';
    await store.writeTenant(tenant, [{ sql: `update subscription_commit set ${ahead}`, values: [] }]);
    expect(await problems()).toHaveLength(1);
    await store.recountSubscriptions(tenant, now);
    await load(tenant, [{ n: 1, version: 2 }]);
    expect(await problems()).toEqual([]);
  });

  test('a wrong number of versions is reported and repaired, and the history goes on', async () => {
    const tenant = await newTenant();
    for (const version of [1, 2, 3]) await load(tenant, [{ n: 1, version }]);
    const problems = async () => (await store.readTenant(tenant, (reader) => checkRecords(reader))).problems;
    expect(await problems()).toEqual([]);
    await store.writeDirectory([
      directoryStatement('update tenant set history_rows = history_rows + 5 where id = $1', [tenant]),
    ]);
    expect(await problems()).toEqual(['The history counts 7 former versions, 2 are there']);
    await store.recountSubscriptions(tenant, now);
    expect(await problems()).toEqual([]);
    expect((await read.exported(tenant, 'format=ndjson', 1)).total).toBe(1);
  });

  test('a program without history adds no version and no commit, whatever it changes', async () => {
    const tenant = await newTenant();
    await load(
      tenant,
      [1, 2, 3].map((n) => ({ n, version: 1 })),
    );
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    const options = { databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined };
    const other = openStore({ ...options, keepsHistory: false });
    await other.loadSubscriptions(tenant, [rowOf({ n: 1, version: 2 })]);
    await replaceAll(other, tenant, [
      { n: 1, version: 4 },
      { n: 2, version: 1 },
    ]);
    await other.deleteSubscriptions(tenant, [idOf(2)]);
    await other.close();
    const commits = 'select count(*) as n from subscription_commit where tenant_id = $1 and revision > 1';
    for (const sql of [countVersions, commits] as const)
      expect(Number((await store.readTenant(tenant, (reader) => reader.all(sql as TenantSql)))[0]?.n)).toBe(0);
    await expect(read.exported(tenant, 'format=ndjson', 1)).rejects.toMatchObject(notKept);
    expect((await read.exported(tenant, 'format=ndjson', 4)).total).toBe(1);
  });

  test('a program without history that erases versions keeps their number', async () => {
    const tenant = await newTenant();
    for (const version of [1, 2]) await load(tenant, [{ n: 1, version }]);
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    const options = { databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined };
    const other = openStore({ ...options, keepsHistory: false });
    await other.deleteSubscriptions(tenant, [idOf(1)]);
    await other.close();
    expect((await store.readTenant(tenant, (reader) => checkRecords(reader))).problems).toEqual([]);
  });

  test('the erasure of a person says what was hers, of records that are there and of removed ones', async () => {
    const tenant = await newTenant();
    const erase = () => eraseSubscriptions(operator(), tenant, { email: 'ada@example.com' });
    const bobs = [1, 2, 3].map((n) => ({ ...rowOf({ n, version: 1 }), email: 'bob@example.com' }));
    await store.loadSubscriptions(tenant, bobs);
    const adas = [1, 2].map((n) => ({ n, version: 3 }));
    await load(tenant, adas);
    await replaceAll(store, tenant, adas.slice(0, 1));
    expect(await erase()).toEqual({ tenant, asked: 1, deleted: 1, missing: 0, versions: 1 });
    expect(await read.exported(tenant, 'format=ndjson', 1)).toMatchObject({ total: 3, erased: 0 });
    expect(await read.exported(tenant, 'format=ndjson', 2)).toMatchObject({ total: 1, erased: 2 });
    await load(tenant, [{ n: 4, version: 3 }]);
    await replaceAll(store, tenant, []);
    expect(await erase()).toEqual({ tenant, asked: 0, deleted: 0, missing: 0, versions: 1 });
    expect(await revisionOf(tenant)).toBe(7); // ETags of responses with the version no longer match
    expect(await erase()).toEqual({ tenant, asked: 0, deleted: 0, missing: 0, versions: 0 });
    expect((await store.readTenant(tenant, (reader) => checkRecords(reader))).problems).toEqual([]);
  });

  test.each([
    // nobody else has the versions without an address
    { owner: 'an email', erased: { email: 'ADA@example.com' }, second: { total: 1, erased: 2 } },
    { owner: 'an ICCID', erased: { iccid: adasSim }, second: { total: 3, erased: 0 } },
  ])('the erasure of $owner removes its versions of records that have another one now', async ({ erased, second }) => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const tokens: string[] = [];
    for (const of of [tenant, other]) {
      await load(of, [
        { n: 1, version: 3 },
        { n: 2, version: 3 },
        { n: 3, version: 1 },
      ]);
      tokens.push(await read.tokenNow(of));
      await load(of, [
        { n: 1, version: 1 },
        { n: 2, version: 1 },
      ]);
      await replaceAll(store, of, [{ n: 1, version: 2 }]);
    }
    await eraseSubscriptions(operator(), tenant, erased);
    const withEmail = "select id from subscription_version where tenant_id = $1 and email = 'ada@example.com'";
    const left = (of: TenantId) => store.readTenant(of, (reader) => reader.all(withEmail));
    expect([(await left(tenant)).length, (await left(other)).length]).toEqual([0, 2]);
    expect(await read.exported(tenant, 'format=ndjson', 1)).toMatchObject({ total: 1, erased: 2, revision: 1 });
    expect(await read.exported(tenant, 'format=ndjson', 2)).toMatchObject(second);
    expect(await read.exported(other, 'format=ndjson', 1)).toMatchObject({ total: 3, erased: 0 });
    const { problems } = await store.readTenant(tenant, (reader) => checkRecords(reader));
    expect([problems, await revisionOf(tenant)]).toEqual([[], 4]);
    await replaceAll(store, tenant, []);
    // a client that has the erased versions must remove them, although they cannot be described
    const changes = await read.changesSince(tenant, tokens[0], 10);
    expect(changes.map(({ id, kind, before }) => [id, kind, before?.id])).toEqual([
      [idOf(2), 'removed', undefined],
      [idOf(3), 'removed', idOf(3)],
      [idOf(1), 'removed', undefined],
    ]);
  });

  test('the history of a record tells an erased version from a removal', async () => {
    const tenant = await newTenant();
    for (const version of [1, 3, 1]) await load(tenant, [{ n: 1, version }]);
    await replaceAll(store, tenant, [{ n: 2, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    await store.deleteSubscriptions(tenant, [idOf(1)], { column: 'iccid', value: adasSim });
    const history = await historyOf(tenant, 1);
    expect(history.versions.map(({ revision, record, ...what }) => [revision, record?.status, what])).toEqual([
      [5, 'DEPLETED', { committed_at: expect.any(String) }],
      [4, undefined, { committed_at: expect.any(String), removed: true }],
      [3, 'ACTIVE', { committed_at: expect.any(String) }],
      [2, undefined, { committed_at: expect.any(String), erased: true }],
      [1, 'ACTIVE', { committed_at: expect.any(String) }],
    ]);
  });

  test('of several commits in a second, an instant means the last', async () => {
    const tenant = await newTenant();
    for (const version of [1, 2, 4]) await load(tenant, [{ n: 1, version }]);
    await spreadCommits(tenant);
    const sql = 'update subscription_commit set committed_at = $2 where tenant_id = $1 and revision > 1';
    await store.writeTenant(tenant, [{ sql, values: [now - 90] }]);
    const at = async (seconds: number) => (await read.exported(tenant, 'format=ndjson', instant(seconds))).revision;
    expect([await at(now - 90), await at(now - 89), await at(now - 80)]).toEqual([1, 3, 3]);
  });

  test('a follower with before=true is told of each load once, as what it was after the load before', async () => {
    const tenant = await newTenant();
    await load(
      tenant,
      [1, 2, 3].map((n) => ({ n, version: 1 })),
    );
    let since = await read.tokenNow(tenant);
    /** The changes since the last call, read in pages of one. */
    const follow = async () => {
      const told: string[] = [];
      for (;;) {
        const { changes, next, has_more: hasMore } = await read.changesOf(tenant, `size=1&before=true&since=${since}`);
        told.push(...changes.map(({ id, kind, before }) => `${kind} ${id} ${before?.status ?? '-'}`));
        since = next;
        if (!hasMore) return told;
      }
    };
    await load(tenant, [
      { n: 3, version: 2 },
      { n: 4, version: 1 },
      { n: 5, version: 1 },
    ]);
    expect(await follow()).toEqual(['changed id3 ACTIVE', 'added id4 -', 'added id5 -']);
    await load(tenant, [
      { n: 3, version: 0 },
      { n: 4, version: 2 },
    ]);
    await removeRecords(store, tenant, [idOf(5)]);
    expect(await follow()).toEqual(['changed id3 DEPLETED', 'changed id4 ACTIVE', 'removed id5 ACTIVE']);
    expect(await follow()).toEqual([]);
  });

  test('the history of a record says when older versions are left out', async () => {
    const tenant = await newTenant();
    for (const version of [1, 2]) await load(tenant, [{ n: 1, version }]);
    const addVersions = async (until: number) => {
      const statements = [repeatVersion, 'update subscription set revision = $2 where tenant_id = $1'] as const;
      await store.writeTenant(
        tenant,
        statements.map((sql) => ({ sql, values: [until] })),
      );
      const { versions, has_more } = await historyOf(tenant, 1);
      return [versions.length, versions.at(-1)?.revision, has_more];
    };
    expect(await addVersions(versionsMax)).toEqual([versionsMax, 1, false]);
    expect(await addVersions(versionsMax + 1)).toEqual([versionsMax, 2, true]);
  });

  async function historyOf(tenant: TenantId, n: number): Promise<SubscriptionHistory> {
    const history = JSON.parse((await getSubscriptionHistory(context, tenant, idOf(n))).record) as SubscriptionHistory;
    expect(Check(SubscriptionHistorySchema, history)).toBe(true);
    return history;
  }

  test('changes are selected by kind, and a change that is undone by a removal is none', async () => {
    const tenant = await newTenant();
    await load(
      tenant,
      [1, 2, 3, 6].map((n) => ({ n, version: 1 })),
    );
    // what was erased before the period says nothing of the records in it
    await store.deleteSubscriptions(tenant, [idOf(6)]);
    const since = await read.tokenNow(tenant);
    await load(
      tenant,
      [4, 5].map((n) => ({ n, version: 1 })),
    );
    await replaceAll(store, tenant, [
      { n: 1, version: 1 },
      { n: 2, version: 2 },
      { n: 4, version: 1 },
    ]);
    const ids = async (query: string) =>
      (await read.changesOf(tenant, `since=${since}&${query}`)).changes.map(({ id }) => id);
    expect(await ids('kind=added')).toEqual([idOf(4)]);
    expect(await ids('kind=removed')).toEqual([idOf(3)]);
    expect(await ids('kind=changed')).toEqual([idOf(2)]);
    const { changes } = await read.changesOf(tenant, `since=${since}&before=true`);
    expect(changes.map(({ id, kind }) => [id, kind])).toEqual([
      [idOf(4), 'added'],
      [idOf(2), 'changed'],
      [idOf(3), 'removed'],
    ]);
    expect(await ids('size=10')).toEqual([idOf(4), idOf(2), idOf(3), idOf(5)]);
  });

  /** Moves the commits to the past, ten seconds apart, the first one 100 seconds ago. */
  async function spreadCommits(tenant: TenantId): Promise<void> {
    const sql = 'update subscription_commit set committed_at = cast($2 as bigint) + revision * 10 where tenant_id = $1';
    await store.writeTenant(tenant, [{ sql, values: [now - 110] }]);
    await store.writeDirectory([
      directoryStatement('update tenant set history_from_at = $2, history_at = $2 + revision * 10 where id = $1', [
        tenant,
        now - 110,
      ]),
    ]);
  }
});
