import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { readPage } from '../../packages/service/storage/read/page.ts';
import type { PageQuery } from '../../packages/service/storage/read/page-sql.ts';
import type { Page, PageStore } from '../../packages/service/storage/read/page-statements.ts';
import { RangeMemory } from '../../packages/service/storage/read/range-memory.ts';
import { numbered } from '../../packages/service/storage/sqlite/connection.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { openBenchSqlite } from '../support/bench-store.ts';
import { historySeconds, loadDataSet, until } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { machineFacts, printSection } from '../support/results.ts';

// What a cold page 1, and the page after it by cursor, cost the embedded store without HTTP, next
// to their floor: the same statements, prepared and with the same values, in a loop with nothing
// around them.
//   node bench/report/page-floor.ts
//   node bench/report/page-floor.ts --records 20000 --rounds 3

const tenantCount = 50;
const pageCount = 2_000;
const year = 365 * 86_400;
const options = readOptions({ records: 200_000, rounds: 9 });

type AskedPage = readonly [tenant: TenantId, query: PageQuery];

type Statements = readonly { readonly sql: string; readonly values: readonly (string | number | null)[] }[];

/** CPU time of a page in microseconds: as the service reads it, and of its statements alone. */
interface Measured {
  readonly page: number;
  readonly floor: number;
}

/** Page 1 of a random tenant's records of random twelve months, newest first. */
function randomQuery(): PageQuery {
  const afterSeconds = Math.floor(until - historySeconds + Math.random() * (historySeconds - year));
  return {
    filter: { dateColumn: 'created_date', afterSeconds, beforeSeconds: afterSeconds + year },
    order: { column: 'created_date', descending: true },
    position: { kind: 'offset', skip: 0 },
    size: 50,
    layout: 'array',
  };
}

/** CPU time of this thread in microseconds. */
async function cpuUsOf(work: () => Promise<void> | void): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** Runs statements in one snapshot, as the service does; each text is prepared once. */
function floorOf(file: string): (statements: Statements) => void {
  const database = new DatabaseSync(file);
  const prepared = new Map<string, StatementSync>();
  return (statements) => {
    const isSnapshot = statements.length === 1;
    if (!isSnapshot) database.exec('begin');
    for (const { sql, values } of statements) {
      const statement = prepared.get(sql) ?? database.prepare(numbered(sql));
      prepared.set(sql, statement);
      statement.all(...values);
    }
    if (!isSnapshot) database.exec('rollback');
  };
}

const { store, folder, close } = await openBenchSqlite();
const memory = { ranges: new RangeMemory() };

async function readAll(pages: readonly AskedPage[], from: PageStore = store): Promise<readonly Page[]> {
  const read: Page[] = [];
  for (const [tenant, query] of pages) read.push(await readPage({ store: from, ...memory }, tenant, query));
  return read;
}

/** The pages that follow full ones. */
const pagesAfter = (pages: readonly AskedPage[], read: readonly Page[]): readonly AskedPage[] =>
  read.flatMap(({ records, hasMore }, index): AskedPage[] => {
    const [tenant, query] = pages[index] as AskedPage;
    if (records.last === undefined || !hasMore) return [];
    return [[tenant, { ...query, position: { kind: 'after', orderKey: records.last } }]];
  });

/** The statements that the service runs for each of some pages. */
async function noteStatements(pages: readonly AskedPage[]): Promise<readonly Statements[]> {
  const noted: Statements[] = [];
  await readAll(pages, {
    engine: store.engine,
    readTenant: (...read) => store.readTenant(...read),
    readTenantOnce(tenant, statements, how) {
      noted.push(statements.map(({ sql, values }) => ({ sql, values: [tenant, ...values] })));
      return store.readTenantOnce(tenant, statements, how);
    },
  });
  return noted;
}

/** Makes the function that measures some pages once. */
async function measurer(pages: readonly AskedPage[]): Promise<() => Promise<Measured>> {
  const noted = await noteStatements(pages);
  const runFloor = floorOf(join(folder, 'subreport.db'));
  return async () => ({
    page: (await cpuUsOf(async () => void (await readAll(pages)))) / pages.length,
    floor: (await cpuUsOf(() => noted.forEach(runFloor))) / pages.length,
  });
}

try {
  const tenants = await loadDataSet(store, options.records, tenantCount);
  const first = Array.from(
    { length: pageCount },
    (_, index): AskedPage => [tenants[index % tenants.length] as TenantId, randomQuery()],
  );
  await readAll(first); // remembers their ranges
  const found = pagesAfter(first, await readAll(first));
  if (found.length === 0)
    throw new RangeError(
      `Cannot measure: --records must be so many that a page of twelve months has a following one: current value is ${options.records}`,
    );
  // of few records, the clock could not tell the CPU time of the pages that follow
  const next = first.map((_, index) => found[index % found.length] as AskedPage);
  const [measureFirst, measureNext] = [await measurer(first), await measurer(next)];
  const rounds: { readonly first: Measured; readonly next: Measured }[] = [];
  for (let round = 0; round <= options.rounds; round += 1)
    rounds.push({ first: await measureFirst(), next: await measureNext() });
  const warm = rounds.slice(1);
  const row = (name: string, of: (round: (typeof warm)[number]) => Measured): string => {
    const us = (side: keyof Measured): string => median(warm.map((each) => of(each)[side])).toFixed(0);
    const ratio = median(warm.map((each) => of(each).page / of(each).floor)).toPrecision(3);
    return `| ${name} | ${us('page')} | ${us('floor')} | ${ratio} |`;
  };
  const following = (side: keyof Measured): string =>
    median(warm.map(({ first: one, next: other }) => other[side] / one[side])).toPrecision(3);
  const text = `${options.records} records of ${tenantCount} tenants; page 1 of 50 records as in "Cold", and the page after it by cursor; ${options.rounds} rounds of ${pageCount} pages a side; medians.

${machineFacts()}.

| CPU µs a page | as the service reads it, without HTTP | its statements alone | ratio |
|---|---|---|---|
${row('page 1', (each) => each.first)}
${row('next page by cursor', (each) => each.next)}
| next page ÷ page 1 | ${following('page')} | ${following('floor')} | |`;
  printSection('Pages on SQLite, without HTTP', text);
} finally {
  await close();
}
