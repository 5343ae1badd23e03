import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SpanMemory } from '../../src/storage/counts/span-memory.ts';
import type { PageQuery, PageStore } from '../../src/storage/read/counted-page.ts';
import { readPage } from '../../src/storage/read/page.ts';
import type { TenantId } from '../../src/storage/store.ts';
import { openBenchSqlite } from '../support/bench-store.ts';
import { historySeconds, loadDataSet, until } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { machineFacts, writeSection } from '../support/results.ts';

// What a cold page 1 costs the embedded store without HTTP, next to its floor: the same statements,
// prepared and with the same values, in a loop with nothing around them.
//   node bench/report/page-floor.ts
//   node bench/report/page-floor.ts --records 20000 --rounds 3 --dry-run

const tenantCount = 50;
const pageCount = 2_000;
const year = 365 * 86_400;
const options = readOptions({ records: 200_000, rounds: 9 });

type Statements = readonly { readonly sql: string; readonly values: readonly (string | number | null)[] }[];

/** Page 1 of a random tenant's records of random twelve months, newest first. */
function randomQuery(): PageQuery {
  const afterSeconds = Math.floor(until - historySeconds + Math.random() * (historySeconds - year));
  return {
    filter: { dateColumn: 'created_date', afterSeconds, beforeSeconds: afterSeconds + year },
    order: { column: 'created_date', descending: true },
    position: { kind: 'offset', skip: 0 },
    size: 50,
    separator: ',',
  };
}

/** CPU time of this thread in microseconds. */
async function cpuUsOf(work: () => Promise<void> | void): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** Runs statements in one snapshot; each text is prepared once. */
function floorOf(file: string): (statements: Statements) => void {
  const database = new DatabaseSync(file);
  const prepared = new Map<string, StatementSync>();
  return (statements) => {
    database.exec('begin');
    for (const { sql, values } of statements) {
      const statement = prepared.get(sql) ?? database.prepare(sql.replaceAll('$', '?'));
      prepared.set(sql, statement);
      statement.all(...values);
    }
    database.exec('rollback');
  };
}

const { store, folder, close } = await openBenchSqlite();
try {
  const tenants = await loadDataSet(store, options.records, tenantCount);
  const pages = Array.from({ length: pageCount }, (_, index): [TenantId, PageQuery] => [
    tenants[index % tenants.length] as TenantId,
    randomQuery(),
  ]);
  let noted: Statements[] = [];
  const noting: PageStore = {
    engine: store.engine,
    readTenant: (...read) => store.readTenant(...read),
    readTenantOnce(tenant, statements, how) {
      noted.push(statements.map(({ sql, values }) => ({ sql, values: [tenant, ...values] })));
      return store.readTenantOnce(tenant, statements, how);
    },
  };
  const spans = new SpanMemory();
  const readAll = async (from: PageStore): Promise<void> => {
    for (const [tenant, query] of pages) await readPage({ store: from, spans }, tenant, query);
  };
  await readAll(store); // loads the leaves of the counts
  noted = [];
  await readAll(noting);
  const runFloor = floorOf(join(folder, 'subreport.db'));
  const floorAll = (): void => {
    for (const statements of noted) runFloor(statements);
  };
  floorAll();
  const rounds: { readonly page: number; readonly floor: number }[] = [];
  for (let round = 0; round < options.rounds; round += 1)
    rounds.push({ page: await cpuUsOf(() => readAll(store)), floor: await cpuUsOf(floorAll) });
  const us = (side: 'page' | 'floor'): string => (median(rounds.map((each) => each[side])) / pageCount).toFixed(0);
  const ratio = median(rounds.map(({ page, floor }) => page / floor)).toPrecision(3);
  const text = `${options.records} records of ${tenantCount} tenants; page 1 of 50 records as in "Cold"; ${options.rounds} rounds of ${pageCount} pages a side; medians.

${machineFacts()}.

| | CPU µs a page |
|---|---|
| page as the service reads it, without HTTP | ${us('page')} |
| its statements alone | ${us('floor')} |
| ratio | ${ratio} |`;
  if (options.dryRun) console.log(text);
  else writeSection('Page 1 on SQLite, without HTTP', text);
} finally {
  await close();
}
