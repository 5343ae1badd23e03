import fc from 'fast-check';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import type { SubscriptionHistory } from '../../src/client/index.ts';
import { SubscriptionHistory as SubscriptionHistorySchema, versionsMax } from '../../src/contract/history.ts';
import { formatInstant } from '../../src/contract/instant.ts';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { eraseSubscriptions } from '../../src/operator/erase.ts';
import { exportSubscriptions } from '../../src/report/export-subscriptions.ts';
import { getSubscription, getSubscriptionHistory } from '../../src/report/get-subscription.ts';
import { getSubscriptionSummary } from '../../src/report/get-subscription-summary.ts';
import { listChanges } from '../../src/report/list-changes.ts';
import { parseReport } from '../../src/report/parse.ts';
import { parseChanges } from '../../src/report/parse-changes.ts';
import { parseSummary } from '../../src/report/parse-summary.ts';
import type { ReportContext } from '../../src/report/report-query.ts';
import { openStore } from '../../src/storage/open-store.ts';
import { checkRecords } from '../../src/storage/records/check.ts';
import { directoryStatement, type Store, type TenantId, type TenantSql } from '../../src/storage/store.ts';
import { columnNames, type SubscriptionRow, versionColumns } from '../../src/storage/subscription-row.ts';
import { beginHistory } from '../../src/storage/tables/history.ts';
import { findSubscriptionIds } from '../../src/storage/tables/subscription-ids.ts';
import { readHistoryUse, sweepVersions } from '../../src/storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { checkProperty } from '../support/check-property.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';

const daySeconds = 86_400;
const instant = (seconds: number): string => formatInstant(seconds);
const notKept = { code: 'HISTORY_NOT_KEPT' };
const countVersions = 'select count(*) as n from subscription_version where tenant_id = $1';
/** Repeats a version for each revision up to `$2`, at which the record is the present one. */
const repeatVersion = `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < $2 - 1)
  insert into subscription_version (${versionColumns})
  select tenant_id, n + 1, n, ${columnNames()} from subscription_version, numbers
  where tenant_id = $1 and from_revision = 1 on conflict do nothing returning id` as TenantSql;
const rethrow = (error: unknown): never => {
  throw error;
};
const adasSim = '8944500102198300003';
const idOf = (n: number): string => `id${n}`;

/** Queries whose reports are kept at each revision. */
const exportQueries = [
  'format=ndjson',
  'format=csv&sort=-expirationDate',
  'format=ndjson&status=ACTIVE,none&created-from=1970-01-01T00:00:04Z',
  'format=csv&product-id=product-1',
  'format=ndjson&email=ada@example.com',
];
const summaryQueries = [
  '',
  'by=status,day,month&created-from=1970-01-01T00:00:00Z&created-to=1970-01-09T00:00:00Z',
  'status=ACTIVE&by=product-id,plan-id',
  'status=none,DEPLETED&by=status,month',
  'plan-id=plan-2',
];

/** One step of a history: what it does to which records. */
type Step =
  | { readonly kind: 'load' | 'replace'; readonly records: readonly { readonly n: number; readonly version: number }[] }
  | { readonly kind: 'mirror'; readonly records: readonly number[]; readonly removed: readonly number[] }
  | { readonly kind: 'erase'; readonly ids: readonly number[] }
  | { readonly kind: 'recount' | 'sweep tombstones' };

const drawnRecords = fc.uniqueArray(fc.record({ n: fc.nat(9), version: fc.nat(4) }), {
  maxLength: 8,
  selector: ({ n }) => n,
});
const drawnStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('load' as const), records: drawnRecords }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), records: drawnRecords }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mirror' as const),
      records: fc.uniqueArray(fc.nat(9), { maxLength: 3 }),
      removed: fc.array(fc.nat(9), { maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('erase' as const), ids: fc.array(fc.nat(9), { maxLength: 2 }) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'recount' }, { kind: 'sweep tombstones' }) },
);

function rowOf({ n, version }: { readonly n: number; readonly version: number }): SubscriptionRow {
  const row = subscriptionRow({
    id: idOf(n),
    createdDate: (n % 5) * daySeconds + (version === 4 ? 7 : 0),
    expirationDate: 1_800_000_000 + version,
    status: [null, 'ACTIVE', 'DEPLETED', 'ACTIVE', 'ACTIVE'][version] ?? null,
    productId: `product-${version % 2}`,
    planId: `plan-${n % 3}`,
    email: version === 3 ? 'ada@example.com' : null,
    ...(version === 3 && { iccid: adasSim }),
  });
  return { ...row, record: row.record.replace('Europe 1 GB', `${'日本'.repeat(20)} ${version} GB`) };
}

describe.each(engines)('the history on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  let tenants = 0;
  const now = Math.floor(Date.now() / 1000);

  const newTenant = async (): Promise<TenantId> => {
    tenants += 1;
    await insertTenant(store, `history-${tenants}`, 1_700_000_000);
    return (await findTenant(store, `history-${tenants}`))?.tenant as TenantId;
  };
  const revisionOf = async (tenant: TenantId): Promise<number> => (await findTenant(store, tenant))?.revision ?? 0;
  const load = (tenant: TenantId, records: readonly { readonly n: number; readonly version: number }[]) =>
    store.loadSubscriptions(tenant, records.map(rowOf));

  async function exported(tenant: TenantId, query: string, asOf?: number | string) {
    const past = asOf === undefined ? '' : `&as-of=${asOf}`;
    const report = await exportSubscriptions(
      context,
      tenant,
      parseReport(`all=true&${query}${past}`, context, 'json'),
      10_000,
    );
    let body = '';
    for await (const { bytes } of report.pieces) body += bytes.toString('utf8');
    await report.close();
    const { 'x-total-count': total, 'x-erased-count': erased = '0', 'x-revision': revision } = report.headers;
    return { body, total: Number(total), erased: Number(erased), revision: Number(revision) };
  }
  const summarised = async (tenant: TenantId, query: string, asOf?: number) =>
    (
      await getSubscriptionSummary(
        store,
        tenant,
        parseSummary(asOf === undefined ? query : `${query}&as-of=${asOf}`, context),
      )
    ).body;
  interface Change {
    readonly id: string;
    readonly removed?: true;
    readonly kind: string;
    readonly before?: { readonly id: string };
    readonly committed_at?: string;
    readonly import_id?: string;
  }
  async function changesSince(tenant: TenantId, since: string | undefined, size: number): Promise<readonly Change[]> {
    const all: Change[] = [];
    for (let token = since; ; ) {
      const query = `size=${size}&before=true${token === undefined ? '' : `&since=${token}`}`;
      const { body } = await listChanges(context, tenant, parseChanges(query, context, 'json'));
      const page = JSON.parse(String(body)) as { changes: Change[]; next: string; has_more: boolean };
      all.push(...page.changes);
      if (!page.has_more) return all;
      token = page.next;
    }
  }
  const tokenNow = async (tenant: TenantId): Promise<string> =>
    (
      JSON.parse(String((await listChanges(context, tenant, parseChanges('since=now', context, 'json'))).body)) as {
        next: string;
      }
    ).next;

  /** Returns the revision up to which tombstones are gone, if some were swept. */
  async function take(tenant: TenantId, step: Step): Promise<number | undefined> {
    switch (step.kind) {
      case 'load':
        await load(tenant, step.records);
        return undefined;
      case 'replace': {
        const replacement = await store.openReplacement(tenant);
        await replacement.add(step.records.map(rowOf));
        await replacement.finish(false);
        await replacement.close();
        return undefined;
      }
      case 'mirror': {
        const rows = step.records.map((n) => rowOf({ n, version: 4 }));
        const removed = step.removed.filter((n) => !step.records.includes(n)).map(idOf);
        await store.loadSubscriptions(tenant, rows, undefined, undefined, removed);
        return undefined;
      }
      case 'erase':
        await store.deleteSubscriptions(tenant, step.ids.map(idOf));
        return undefined;
      case 'recount':
        await store.recountSubscriptions(tenant, now);
        return undefined;
      case 'sweep tombstones': {
        const until = (await revisionOf(tenant)) - 3;
        return (await store.sweepTombstones(tenant, until, 1_000)) > 0 ? until : undefined;
      }
    }
  }

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: () => now + 3_600 };
  });
  afterAll(() => opened.close());

  test('every kept revision is read byte for byte as it was, except what was erased since', async () => {
    const run = fc.asyncProperty(fc.array(drawnStep, { minLength: 2, maxLength: 9 }), async (steps) => {
      const tenant = await newTenant();
      const kept: {
        readonly revision: number;
        readonly exports: readonly string[];
        readonly summaries: readonly string[];
        readonly token: string;
        readonly erasures: number;
      }[] = [];
      const erased: string[] = [];
      let swept = 0;
      await load(tenant, [{ n: 1, version: 1 }]);
      for (const step of steps) {
        swept = Math.max(swept, (await take(tenant, step)) ?? 0);
        if (step.kind === 'erase') erased.push(...step.ids.map(idOf));
        kept.push({
          revision: await revisionOf(tenant),
          exports: await Promise.all(exportQueries.map(async (query) => (await exported(tenant, query)).body)),
          summaries: await Promise.all(summaryQueries.map(async (query) => String(await summarised(tenant, query)))),
          token: await tokenNow(tenant),
          erasures: erased.length,
        });
      }
      const today = linesOf(kept.at(-1)?.exports[0] ?? '');
      for (const { revision, exports, summaries, token, erasures } of kept) {
        const gone = new Set(erased.slice(erasures));
        const left = (text: string) => text.split('\n').filter((line) => ![...gone].some((id) => mentions(line, id)));
        for (const [index, query] of exportQueries.entries()) {
          const past = await exported(tenant, query, revision);
          expect(past.body).toBe(left(exports[index] ?? '').join('\n'));
          expect(past.total).toBe(linesOf(past.body).size - (query.startsWith('format=csv') ? 1 : 0));
          expect(past.revision).toBe(revision);
          if (index === 0) expect(past.erased).toBe(linesOf(exports[0] ?? '').size - past.total);
        }
        if (gone.size === 0)
          for (const [index, query] of summaryQueries.entries())
            expect(await summarised(tenant, query, revision)).toBe(summaries[index]);
        if (revision < swept) continue; // its token is rejected
        const then = linesOf((await exported(tenant, exportQueries[0] ?? '', revision)).body);
        expect(apply(then, await changesSince(tenant, token, 3))).toEqual(
          new Map([...today].filter(([id]) => today.get(id) !== undefined)),
        );
      }
    });
    await checkProperty(run, { least: 4, most: 40 });
  });

  test('an instant means the last revision that was committed by then; the history has its times', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, [rowOf({ n: 1, version: 1 })], undefined, '0189-import');
    await load(tenant, [{ n: 1, version: 2 }]);
    await spreadCommits(tenant);
    const at = async (seconds: number) => (await exported(tenant, 'format=ndjson', instant(seconds))).revision;
    const first = now - 100;
    expect([await at(first), await at(first + 9), await at(first + 10), await at(now)]).toEqual([1, 1, 2, 2]);
    await expect(at(first - 11)).rejects.toMatchObject(notKept);
    expect(() => parseReport(`all=true&format=csv&as-of=${instant(now + 7_200)}`, context, 'json')).toThrow(/future/);
    const { record } = await getSubscriptionHistory(context, tenant, idOf(1));
    expect(JSON.parse(record)).toMatchObject({
      id: idOf(1),
      versions: [
        { revision: 2, committed_at: instant(first + 10), record: { status: 'DEPLETED' } },
        { revision: 1, committed_at: instant(first), import_id: '0189-import', record: { status: 'ACTIVE' } },
      ],
    });
    const idsOfImports = async () => (await changesSince(tenant, undefined, 10)).map(({ import_id: id }) => id);
    expect(await idsOfImports()).toEqual([undefined]);
    await store.loadSubscriptions(tenant, [rowOf({ n: 2, version: 1 })], undefined, '018a-import');
    expect(await idsOfImports()).toEqual([undefined, '018a-import']);
    const old = await getSubscription(context, tenant, idOf(1), { seconds: first + 5 });
    expect(old.record).toBe(rowOf({ n: 1, version: 1 }).record);
    await expect(getSubscription(context, tenant, idOf(1), { revision: 0 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(getSubscription(context, tenant, idOf(1), { revision: 9 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST_PARAMS',
    });
  });

  test('a tenant has a history since it was created, also if it has the name of a deleted one', async () => {
    const tenant = 'history-of-nothing' as TenantId;
    const bodyAt = async (seconds: number) => (await exported(tenant, 'format=ndjson', instant(seconds))).body;
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
    const byteLength = Buffer.byteLength(rowOf({ n: 1, version: 2 }).record);
    expect(before.versions).toBeGreaterThan(1);
    expect(before.recordBytes / before.versions / byteLength).toBeCloseTo(1, 1);
    const due = await use(31);
    expect(due.sweepsDue).toBeGreaterThan(before.sweepsDue);
    await day(30);
    expect([Number(await versions()), (await exported(tenant, 'format=ndjson', 1)).revision]).toEqual([2, 1]);
    await day(31);
    expect(await use(31)).toMatchObject({ versions: 1, sweepsDue: 0 });
    expect(Number(await versions())).toBe(1);
    await expect(exported(tenant, 'format=ndjson', 1)).rejects.toMatchObject(notKept);
    expect((await exported(tenant, 'format=ndjson', 2)).body).toBe(`${rowOf({ n: 1, version: 2 }).record}\n`);
    await store.writeDirectory([
      directoryStatement('update tenant set revision = revision + 1 where id = $1', [tenant]),
    ]);
    await expect(exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
    await load(tenant, [{ n: 1, version: 4 }]);
    expect((await exported(tenant, 'format=ndjson', 4)).body).toBe(`${rowOf({ n: 1, version: 3 }).record}\n`);
    await expect(exported(tenant, 'format=ndjson', 3)).rejects.toMatchObject(notKept);
    await day(31);
    expect(Number(await versions())).toBe(1);
    await sweepVersions(store, { nowSeconds: now, days: 0 });
    expect(Number(await versions())).toBe(0);
    await expect(exported(tenant, 'format=ndjson', 4)).rejects.toMatchObject(notKept);
    expect((await exported(tenant, 'format=ndjson', 5)).total).toBe(1);
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
        if (name !== 'writeTenant') return Reflect.get(target, name).bind(target);
        return async (...args: Parameters<Store['writeTenant']>) => {
          const results = await target.writeTenant(...args);
          seen.push((await store.readTenant(args[0], (reader) => checkRecords(reader))).problems);
          return results;
        };
      },
    });
    expect(await sweepVersions(watched, { nowSeconds: now, days: 0 })).toBeGreaterThan(500);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.flat()).toEqual([]);
  });

  test('a restore begins a new history, of which older moments and tokens know nothing', async () => {
    const tenant = await newTenant();
    await load(tenant, [{ n: 1, version: 1 }]);
    await load(tenant, [{ n: 1, version: 2 }]);
    await beginHistory(store, now);
    await expect(exported(tenant, 'format=ndjson', 1)).rejects.toMatchObject(notKept);
    await sweepVersions(store, { nowSeconds: now, days: 30 });
    const restored = await revisionOf(tenant);
    await load(tenant, [{ n: 1, version: 3 }]);
    expect((await exported(tenant, 'format=ndjson', restored)).body).toBe(`${rowOf({ n: 1, version: 2 }).record}\n`);
    await expect(exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
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
    await expect(exported(tenant, 'format=ndjson', 2)).rejects.toMatchObject(notKept);
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
    expect((await exported(tenant, 'format=ndjson', 1)).total).toBe(1);
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

  test('the erasure of a person finds the versions of removed records, but no record of another person', async () => {
    const tenant = await newTenant();
    await load(
      tenant,
      [1, 2, 3].map((n) => ({ n, version: 3 })),
    );
    await load(tenant, [{ n: 2, version: 1 }]);
    await take(tenant, {
      kind: 'replace',
      records: [
        { n: 2, version: 1 },
        { n: 3, version: 3 },
      ],
    });
    const ids = await findSubscriptionIds(store, tenant, { column: 'email', value: 'ada@example.com' });
    expect([...ids].sort()).toEqual([idOf(1), idOf(3)]);
    expect(await store.deleteSubscriptions(tenant, [idOf(1)])).toBe(0);
    const revision = await revisionOf(tenant);
    expect(revision).toBe(4); // cached responses with the version end
    expect(await exported(tenant, 'format=ndjson', 1)).toMatchObject({ total: 2, erased: 1 });
  });

  test.each([
    { owner: 'an email', erased: { email: 'ADA@example.com' } },
    { owner: 'an ICCID', erased: { iccid: adasSim } },
  ])('the erasure of $owner removes its versions of records that have another one now', async ({ erased }) => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const tokens: string[] = [];
    for (const of of [tenant, other]) {
      await load(of, [
        { n: 1, version: 3 },
        { n: 2, version: 3 },
        { n: 3, version: 1 },
      ]);
      tokens.push(await tokenNow(of));
      await load(of, [
        { n: 1, version: 1 },
        { n: 2, version: 1 },
      ]);
      await take(of, { kind: 'replace', records: [{ n: 1, version: 2 }] });
    }
    const audit = createAuditLog({ store, now: () => now, write: () => undefined });
    const operator = { store, now: () => now, actor: { kind: 'command', user: 'test' }, audit } as const;
    await eraseSubscriptions({ ...operator, onUnrecorded: rethrow }, tenant, erased);
    const withEmail = "select id from subscription_version where tenant_id = $1 and email = 'ada@example.com'";
    const left = (of: TenantId) => store.readTenant(of, (reader) => reader.all(withEmail));
    expect([(await left(tenant)).length, (await left(other)).length]).toEqual([0, 2]);
    expect(await exported(tenant, 'format=ndjson', 1)).toMatchObject({ total: 1, erased: 2, revision: 1 });
    // the second record is removed, so all its versions are erased
    expect(await exported(tenant, 'format=ndjson', 2)).toMatchObject({ total: 2, erased: 1 });
    expect(await exported(other, 'format=ndjson', 1)).toMatchObject({ total: 3, erased: 0 });
    const { problems } = await store.readTenant(tenant, (reader) => checkRecords(reader));
    expect([problems, await revisionOf(tenant)]).toEqual([[], 4]);
    await take(tenant, { kind: 'replace', records: [] });
    // a client that has the erased versions must remove them, although they cannot be described
    const changes = await changesSince(tenant, tokens[0], 10);
    expect(changes.map(({ id, kind, before }) => [id, kind, before?.id])).toEqual([
      [idOf(2), 'removed', undefined],
      [idOf(3), 'removed', idOf(3)],
      [idOf(1), 'removed', undefined],
    ]);
  });

  test('the history of a record tells an erased version from a removal', async () => {
    const tenant = await newTenant();
    for (const version of [1, 3, 1]) await load(tenant, [{ n: 1, version }]);
    await take(tenant, { kind: 'replace', records: [{ n: 2, version: 1 }] });
    await load(tenant, [{ n: 1, version: 2 }]);
    await store.deleteSubscriptions(tenant, [], { column: 'iccid', value: adasSim });
    const history = await historyOf(tenant, 1);
    expect(history.versions.map(({ revision, record, ...what }) => [revision, record?.status, what])).toEqual([
      [5, 'DEPLETED', { committed_at: expect.any(String) }],
      [4, undefined, { committed_at: expect.any(String), removed: true }],
      [3, 'ACTIVE', { committed_at: expect.any(String) }],
      [2, undefined, { committed_at: expect.any(String), erased: true }],
      [1, 'ACTIVE', { committed_at: expect.any(String) }],
    ]);
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
      [1, 2, 3].map((n) => ({ n, version: 1 })),
    );
    const since = await tokenNow(tenant);
    await load(
      tenant,
      [4, 5].map((n) => ({ n, version: 1 })),
    );
    await take(tenant, {
      kind: 'replace',
      records: [
        { n: 1, version: 1 },
        { n: 2, version: 2 },
        { n: 4, version: 1 },
      ],
    });
    const ids = async (query: string) => {
      const { body } = await listChanges(context, tenant, parseChanges(`since=${since}&${query}`, context, 'json'));
      return (JSON.parse(String(body)) as { changes: Change[] }).changes.map(({ id }) => id);
    };
    expect(await ids('kind=added')).toEqual([idOf(4)]);
    expect(await ids('kind=removed')).toEqual([idOf(3)]);
    expect(await ids('kind=changed')).toEqual([idOf(2)]);
    expect(await ids('before=true')).toEqual([idOf(4), idOf(2), idOf(3)]);
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

  function linesOf(body: string): Map<string, string> {
    const lines = body.split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => [/"id":"([^"]+)"/.exec(line)?.[1] ?? line, line]));
  }
  const mentions = (line: string, id: string): boolean => line.includes(`"id":"${id}"`) || line.startsWith(`${id},`);

  /** Applies described changes to a copy; each must say what the copy has. */
  function apply(copy: Map<string, string>, changes: readonly Change[]): Map<string, string> {
    const result = new Map(copy);
    for (const { kind, before, committed_at: at, import_id: _importId, ...record } of changes) {
      const had = copy.get(record.id);
      expect(before && JSON.stringify(before)).toBe(had);
      expect(kind).toBe(record.removed ? 'removed' : had === undefined ? 'added' : 'changed');
      expect(at).toMatch(/Z$/);
      if (record.removed) result.delete(record.id);
      else result.set(record.id, JSON.stringify(record));
    }
    return result;
  }
});
