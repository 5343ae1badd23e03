import { calendarOf } from '../../packages/service/report/calendar.ts';
import { readTenant } from '../../packages/service/report/moment.ts';
import { type ChangesPeriod, summariseChanges } from '../../packages/service/storage/read/changes-summary.ts';
import { countCommitted } from '../../packages/service/storage/read/committed-changes.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { syntheticRecords, until } from '../support/data-set.ts';
import { exactCpuSeconds, exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { machineFacts, printSection } from '../support/results.ts';

// A summary of changes, added up from the commits and read from the records, by CPU time of this
// process and of PostgreSQL: a load that changed 60,000 records, and that load with another one
// that changed some of the same records.
//   npm run bench -- history
//   node bench/history/changes-summary.ts --records 250000

const options = readOptions({ records: 1_000_000 });
const changedRecords = 60_000;
/** Records of an import's transaction. */
const batchRows = 1_000;
const days = calendarOf('day', undefined, { from: 0, until: 0 });
const max = { transitions: 500, imports: 100, perImport: 20 };

/** Loads records in the batches of an import, with another status. */
async function change(store: Store, tenant: TenantId, rows: readonly SubscriptionRow[], status: string) {
  for (let from = 0; from < rows.length; from += batchRows) {
    const batch = rows.slice(from, from + batchRows).map((row) => {
      const record = JSON.stringify({ ...JSON.parse(row.record), status });
      return { ...row, status, record };
    });
    await store.loadSubscriptions(tenant, batch, undefined, '01890a5d-ac96-774b-bcce-b302099a8057');
  }
}

/** Every so many rows, in an order that is not that of the table. */
function spread(rows: readonly SubscriptionRow[], count: number): readonly SubscriptionRow[] {
  const step = Math.floor(rows.length / count);
  const chosen = rows.filter((_, index) => index % step === 0).slice(0, count);
  return chosen.map((_, index) => chosen[(index * 7_919) % chosen.length] as SubscriptionRow);
}

async function measure(open: typeof openBenchSqlite): Promise<string> {
  const opened = await open();
  const { store, serverPid } = opened;
  try {
    await insertTenant(store, 'bench', until);
    const found = async () => await findTenant(store, 'bench');
    const tenant = (await found())?.tenant as TenantId;
    const rows = [...syntheticRecords(options.records, 1)];
    for (let from = 0; from < rows.length; from += 5_000)
      await store.loadSubscriptions(tenant, rows.slice(from, from + 5_000));
    const base = (await found())?.revision ?? 0;
    const changed = spread(rows, changedRecords);
    await change(store, tenant, changed, 'SUSPENDED');
    const first = (await found())?.revision ?? 0;
    await change(store, tenant, changed.slice(0, 2_000), 'RESUMED');
    if (serverPid !== undefined) await opened.administer('vacuum analyze');
    const second = (await found())?.revision ?? 0;
    const lines: string[] = [];
    for (const [name, end] of [
      ['one load', first],
      ['and 2,000 of them again', second],
    ] as const) {
      const period: ChangesPeriod = {
        after: { revision: base + 1, id: '' },
        base,
        ...(end < second && { until: end }),
      };
      const ways = {
        commits: () => readTenant(store, tenant, (reader) => countCommitted(reader, period, end, days, max)),
        records: () => readTenant(store, tenant, (reader) => summariseChanges(reader, period, days, max)),
      };
      const cpu = () => exactCpuSeconds(process.pid) + (serverPid === undefined ? 0 : exactFamilyCpuSeconds(serverPid));
      const times = { commits: [] as number[], records: [] as number[] };
      for (let round = 0; round <= options.rounds; round += 1)
        for (const way of ['commits', 'records'] as const) {
          const before = cpu();
          const counts = await ways[way]();
          if (counts?.kinds.changed !== changedRecords) throw new Error(`Cannot measure: ${JSON.stringify(counts)}`);
          if (round > 0) times[way].push((cpu() - before) * 1000);
        }
      const [commits, records] = [median(times.commits), median(times.records)];
      lines.push(`| ${name} | ${commits.toFixed(0)} | ${records.toFixed(0)} | ${(records / commits).toFixed(1)} |`);
    }
    return lines.join('\n');
  } finally {
    await opened.close();
  }
}

const openers = { sqlite: openBenchSqlite, postgres: openBenchPostgres } as const;
for (const [engine, open] of Object.entries(openers)) {
  if (!options.engines.includes(engine)) continue;
  const name = `Summary of changes on ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`;
  const text = `A summary of ${changedRecords} changes of ${options.records} records, which were loaded in transactions of ${batchRows}. CPU time of all processes, medians of ${options.rounds} rounds.

| period | from the commits, ms | from the records, ms | ratio |
|---|---|---|---|
${await measure(open)}

${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.`;
  printSection(name, text);
}
