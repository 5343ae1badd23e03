import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findingsMoment, getSubscriptionFindings } from '../../src/report/get-subscription-findings.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, until } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { machineFacts } from '../support/results.ts';

// The CPU time of the findings of a tenant beside that of loading its records and of reading them
// all as NDJSON. CPU seconds of this process, with its threads, and of the database server.
//   npm run bench -- findings --records 1000000 --save

const { values: args } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, save: { type: 'boolean', default: false } },
});
const records = Number(args.records);
const rounds = 3;

async function measure(engine: string, { store, serverPid, close }: BenchStore): Promise<string> {
  const cpu = (): number =>
    process.cpuUsage().user / 1e6 +
    process.cpuUsage().system / 1e6 +
    (serverPid === undefined ? 0 : exactFamilyCpuSeconds(serverPid));
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const before = cpu();
    await work();
    return cpu() - before;
  };
  let tenants: Awaited<ReturnType<typeof loadDataSet>> = [];
  const load = await timed(async () => {
    tenants = await loadDataSet(store, records, 1);
  });
  const [tenant] = tenants;
  if (tenant === undefined) throw new TypeError('Cannot measure: a tenant must be loaded');
  const found: number[] = [];
  const read: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // on PostgreSQL, the backend of a snapshot has exited afterwards: read its time before
    const snapshot = await store.openSnapshot(tenant, 60_000);
    const kept = { ...store, engine: store.engine, openSnapshot: async () => ({ ...snapshot, close: async () => {} }) };
    found.push(await timed(() => getSubscriptionFindings({ store: kept }, tenant, findingsMoment(until), 60_000)));
    read.push(
      await timed(async () => {
        const sql = 'select record from subscription where tenant_id = $1 order by created_date, id';
        for await (const batch of snapshot.streamLines(sql, [], 500)) if (batch.rows === 0) break;
      }),
    );
    await snapshot.close();
  }
  await close();
  const [findings, report] = [median(found), median(read)];
  const cells = [engine, ...[load, report, findings].map((seconds) => seconds.toFixed(1))];
  return `| ${[...cells, (findings / report).toFixed(2), (findings / load).toFixed(3)].join(' | ')} |`;
}

const lines = [
  '# Findings',
  '',
  `\`npm run bench -- findings\`: ${records.toLocaleString('en')} records of one tenant, median of ${rounds}; CPU seconds of service and database. ${machineFacts()}`,
  '',
  '| engine | load all records | read all records | findings | findings / read | findings / load |',
  '|---|---:|---:|---:|---:|---:|',
  await measure('SQLite', await openBenchSqlite()),
  await measure('PostgreSQL', await openBenchPostgres()),
];
console.log(lines.join('\n'));
if (args.save) writeFileSync(new URL('../results/findings.md', import.meta.url), `${lines.join('\n')}\n`);
