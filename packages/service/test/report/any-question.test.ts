import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawQuery, seeded } from '../../../../bench/any/draw.ts';
import { syntheticRecords, until } from '../../../../bench/support/data-set.ts';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, onCluster, type TestStore } from '../../../../test/support/engines.ts';
import { ugly, uglyRows } from '../../../../test/support/ugly-rows.ts';
import { type ReadStatement, watchReads } from '../../../../test/support/watch-reads.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { ReportError } from '../../report/error.ts';
import { planSummary } from '../../report/get-subscription-summary.ts';
import { parseReport } from '../../report/parse.ts';
import { parseSearch } from '../../report/parse-search.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import { planReport } from '../../report/plan.ts';
import { sessionOptions } from '../../storage/postgres/session.ts';
import { readPage } from '../../storage/read/page.ts';
import type { PageQuery } from '../../storage/read/page-sql.ts';
import { streamRecords } from '../../storage/read/records.ts';
import { summarise } from '../../storage/read/summary.ts';
import { numbered } from '../../storage/sqlite/connection.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { boundsOf, type SubscriptionFilter } from '../../storage/subscription-filter.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

const drawn = drawOne(engines, import.meta.url);

// The small form of `npm run bench -- any`: random questions have the records that a model has, and
// visit few rows beside those of their narrowest condition. Rows are counted, not time.

const records = 20_000;
const questions = 120;
const rows = [...syntheticRecords(records - 2_000, 1), ...uglyRows(2_000)];
const context = { limits: defaultPageLimits, now: () => until };

const dates = {
  created_date: 'createdDate',
  activation_date: 'activationDate',
  expiration_date: 'expirationDate',
} as const;

/** Whether rows match a filter, whose lists may be long. */
function matcherOf(filter: SubscriptionFilter): (row: SubscriptionRow) => boolean {
  const { statuses } = filter;
  const singles = (['email', 'productId', 'planId', 'autoRenew'] as const).filter((name) => filter[name] !== undefined);
  const lists = (['id', 'iccid', 'deviceId'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [[name, new Set<string | null>([filter[name]].flat())] as const],
  );
  const bounds = boundsOf(filter);
  return (row) =>
    (statuses === undefined || statuses.includes(row.status)) &&
    singles.every((name) => filter[name] === row[name]) &&
    lists.every(([name, values]) => values.has(row[name])) &&
    bounds.every(({ dateColumn, afterSeconds, beforeSeconds }) => {
      const date = row[dates[dateColumn]];
      return !(date <= (afterSeconds ?? -1)) && !(date >= (beforeSeconds ?? Number.POSITIVE_INFINITY));
    });
}

/** The ids of a whole report, in its order. */
async function exportedIds(
  store: Store,
  tenant: TenantId,
  { filter, order }: Pick<PageQuery, 'filter' | 'order'>,
): Promise<string[]> {
  const snapshot = await store.openSnapshot(tenant, 10_000);
  try {
    let lines = '';
    for await (const batch of streamRecords(snapshot, filter, order, 500)) lines += batch.lines.toString();
    return lines.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
  } finally {
    await snapshot.close();
  }
}

/** The rows of the narrowest condition that an index has: a date, a product, or one SIM. */
function narrowestOf(filter: SubscriptionFilter): number {
  const { productId, id, iccid, email, deviceId } = filter;
  // lists may have many records: only their index is read
  for (const name of ['id', 'iccid', 'deviceId'] as const)
    if (typeof filter[name] === 'object' && email === undefined)
      return rows.filter(matcherOf({ dateColumn: 'created_date', [name]: filter[name] })).length;
  const alone: SubscriptionFilter[] = boundsOf(filter);
  if (productId !== undefined) alone.push({ dateColumn: 'created_date', productId });
  for (const [name, value] of Object.entries({ id, iccid, email, deviceId }))
    if (value !== undefined) alone.push({ dateColumn: 'created_date', [name]: value });
  return Math.min(records, ...alone.map((part) => rows.filter(matcherOf(part)).length));
}

/** Plans beside a product that has them, beside one that has another, and beside none. */
const ofPlans = ['plan-id=unknown', `plan-id=${rows[0]?.planId}`].flatMap((plan) =>
  ['', `&product-id=${rows[0]?.productId}`, `&product-id=${rows[1]?.productId}`, '&product-id=unknown'].flatMap(
    (product) => ['', '&sort=-expirationDate'].map((order) => ({ kind: 'page', text: `${plan}${product}${order}` })),
  ),
);

/** Hundreds of records of one SIM, device and subscriber, and plans that products share in part. */
const ofMany = [`iccid=${ugly.iccid}`, `device-id=${ugly.deviceId}`, `email=${encodeURIComponent(ugly.email)}`]
  .flatMap((one) => ['', '&page=20', '&status=ACTIVE', '&sort=-expirationDate'].map((more) => `${one}${more}`))
  .concat([`plan-id=${ugly.sharedPlan}`, `plan-id=${ugly.sharedPlan}&sort=-activationDate`, 'plan-id=plan-b&page=3'])
  .map((text) => ({ kind: 'page', text }));

/** A search with lists: some values of records, and some that no record has. */
function drawLists(random: () => number): { readonly kind: string; readonly text: string } {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const columns = { id: 'id', iccid: 'iccid', 'device-id': 'deviceId' } as const;
  const names = (['id', 'iccid', 'device-id'] as const).filter(() => random() < 0.5);
  const from = rows.slice(0, pick([50, 1_000, rows.length]));
  const lists = (names.length === 0 ? (['iccid'] as const) : names).map((name) => {
    const unknown = { id: 'none', iccid: '899999999999999999', 'device-id': `{"no","ne\\}'` }[name];
    const values = Array.from({ length: pick([1, 2, 30, 999]) }, () => pick(from)[columns[name]]);
    return [name, [...values, ...(random() < 0.5 ? [unknown] : [])]];
  });
  const members = {
    ...Object.fromEntries(lists),
    ...(random() < 0.3 && { status: ['ACTIVE', 'none'] }),
    ...(random() < 0.2 && { 'product-id': pick(rows).productId }),
    ...(random() < 0.2 && { 'created-from': '2024-06-01T00:00:00Z' }),
    ...(random() < 0.5 && { sort: pick(['-createdDate', 'expirationDate', '-activationDate']) }),
    ...(random() < 0.4 && { page: pick([2, 5, 40]) }),
    size: pick([1, 20, 250]),
  };
  return { kind: 'page', text: JSON.stringify(members) };
}

/** Summaries of few records, which no index of a dimension has together. */
const ofOneDay = ['plan-id', 'product-id'].map((by) => ({
  kind: 'summary',
  text: `by=${by}&date-field=activation&after=2025-06-01T00:00:00Z&before=2025-06-02T00:00:00Z&created-from=2023-06-01T00:00:00Z`,
}));

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The rows that the scans of tables and indexes in a plan read. */
function rowsRead(node: PlanNode): number {
  const own = /(?:Seq|Index|Heap) .*Scan|Index Only Scan/.test(node['Node Type'])
    ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}

/** Steps of SQLite's virtual machine for one row that is read and compared, at most. */
const stepsOfRow = 25;

/** Opens a function that counts the rows which a statement visits. */
async function openCounter({ store, environment }: TestStore, tenant: TenantId) {
  if (store.engine === 'sqlite') {
    const database = new DatabaseSync(join(environment.DATA_DIR ?? '', 'subreport.db'));
    const visited = async ({ sql, values }: ReadStatement): Promise<number> => {
      const statement = database.prepare(numbered(sql)) as StatementSync & { stat(counter: string): number };
      statement.all(tenant, ...values);
      return statement.stat('vmStep') / stepsOfRow;
    };
    return { visited, close: async () => database.close() };
  }
  const client = new pg.Client({ connectionString: environment.DATABASE_URL, options: sessionOptions });
  await client.connect();
  await client.query('vacuum analyze');
  await client.query(`set app.tenant = '${tenant}'`);
  await client.query('set plan_cache_mode = force_generic_plan');
  const visited = async ({ sql, values }: ReadStatement): Promise<number> => {
    const { rows: plans } = await client.query(`explain (analyze, timing off, format json) ${sql}`, [
      tenant,
      ...values,
    ]);
    return rowsRead(plans[0]['QUERY PLAN'][0].Plan);
  };
  return { visited, close: () => client.end() };
}

describe.skipIf(onCluster).each(drawn)('any question on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let tenant: TenantId;
  beforeAll(async () => {
    opened = await openTestStore();
    tenant = await addTenant(opened.store, 'any');
    for (let from = 0; from < records; from += 5_000)
      await opened.store.loadSubscriptions(tenant, rows.slice(from, from + 5_000));
  });
  afterAll(() => opened.close());

  test('has exact totals and records, and visits few rows beside those of its narrowest condition', async () => {
    const random = seeded(23);
    const counter = await openCounter(opened, tenant);
    const wide: unknown[] = [];
    const visitedBy = async (statements: readonly ReadStatement[]): Promise<number> => {
      let visited = 0;
      for (const statement of statements) visited += await counter.visited(statement);
      return visited;
    };
    const randomOfLists = seeded(24);
    const lists = Array.from({ length: 60 }, () => drawLists(randomOfLists));
    const first = [...ofPlans, ...ofMany, ...ofOneDay, ...lists];
    for (let asked = 0; asked < questions + lists.length; ) {
      const { kind, text } = first.shift() ?? drawQuery(random);
      const statements: ReadStatement[] = [];
      const store = watchReads(opened.store, (each) => statements.push(each));
      try {
        if (kind === 'summary') {
          const plan = planSummary(parseSummary(text, context));
          const { total } = await store.readTenant(tenant, (reader) => summarise(reader, plan));
          expect([text, total]).toEqual([text, rows.filter(matcherOf(plan.filter)).length]);
          // an index of products or days is read if another has no less than a tenth of its entries
          const isWide = plan.bucket !== undefined || /product|plan/.test(plan.columns.join());
          const few = 2 * Math.min(records, narrowestOf(plan.filter) * (isWide ? 10 : 1)) + 3_000;
          const visited = await visitedBy(statements);
          if (visited > few) wide.push({ text, visited, few });
          asked += 1;
          continue;
        }
        const isSearch = text.startsWith('{');
        const query = isSearch ? parseSearch(Buffer.from(text), context, 'json') : parseReport(text, context, 'json');
        const plan = planReport(query, 1);
        const page = await readPage({ store }, tenant, { ...plan, layout: 'array' });
        asked += 1;
        const { filter, order, position, size } = plan;
        const date = dates[order.column];
        const expected = rows
          .filter(matcherOf(filter))
          .sort((a, b) => (a[date] - b[date] || (a.id < b.id ? -1 : 1)) * (order.descending ? -1 : 1));
        const skip = position.kind === 'offset' ? position.skip : 0;
        const ids = (JSON.parse(`${page.records.bytes}` || '[]') as { id: string }[]).map(({ id }) => id);
        expect([text, page.total, ids]).toEqual([
          text,
          expected.length,
          expected.slice(skip, skip + size).map(({ id }) => id),
        ]);
        if (expected.length <= 4_000)
          expect([text, await exportedIds(opened.store, tenant, plan)]).toEqual([text, expected.map(({ id }) => id)]);
        const visited = await visitedBy(statements);
        // twice the narrowest condition: once for the total, once for the page
        const few = 4 * narrowestOf(filter) + 8 * size + 3_000;
        if (visited > few) wide.push({ text, visited, few });
      } catch (error) {
        if (!(error instanceof ReportError)) throw error;
      }
    }
    await counter.close();
    expect(wide).toEqual([]);
  });

  test('of few records is no count of all products, each of which has one plan', async () => {
    const { store } = opened;
    const plain = await addTenant(store, 'plain');
    const own = [...syntheticRecords(10_000, 2)];
    await store.loadSubscriptions(plain, own);
    const counter = await openCounter(opened, plain);
    const wide: unknown[] = [];
    for (const { text } of ofOneDay) {
      const statements: ReadStatement[] = [];
      const plan = planSummary(parseSummary(text, context));
      const watched = watchReads(store, (each) => statements.push(each));
      const { total } = await watched.readTenant(plain, (reader) => summarise(reader, plan));
      expect([text, total]).toEqual([text, own.filter(matcherOf(plan.filter)).length]);
      let visited = 0;
      for (const statement of statements) visited += await counter.visited(statement);
      // a day has some ten of the records
      if (visited > 1_500) wide.push({ text, visited });
    }
    await counter.close();
    expect(wide).toEqual([]);
  });
});
