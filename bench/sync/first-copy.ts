import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { createClient, type Subscription } from '../../src/client/index.ts';
import { openDestination } from '../../src/sync/open-destination.ts';
import { type Row, rowOf } from '../../src/sync/record-row.ts';
import { runSync, type Source } from '../../src/sync/run-sync.ts';
import { startPostgres } from '../../tools/postgres-server.ts';
import { treeCpuSeconds } from '../capacity/process-tree.ts';
import { openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, syntheticRecords } from '../support/data-set.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { startOurs } from '../support/our-service.ts';
import { machineFacts } from '../support/results.ts';

// The first copy of `subreport sync`, against its floor: reading the NDJSON export without looking
// at it, and writing rows that are in memory already, with COPY or one prepared insert. CPU time is
// that of this process and of the PostgreSQL with the copy, not of the service.
//   node bench/sync/first-copy.ts --records 200000 --rounds 3

const options = readOptions({ records: 200_000, rounds: 3 });
const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-sync-'));
const opened = await openBenchSqlite();
const tenants = await loadDataSet(opened.store, options.records, 1);
const ours = await startOurs(opened, tenants);
const server = await startPostgres();
const [credentials] = ours.clients;
if (credentials === undefined) throw new RangeError('Cannot measure: there must be a client');
const url = `http://127.0.0.1:${ours.port}`;
const client = createClient({
  url,
  clientId: credentials.client_id,
  clientSecret: credentials.client_secret,
  tokenUrl: `${url}/oauth2/token`,
});
const source: Source = { client, service: url, clientId: credentials.client_id };

/** CPU seconds of this process and of PostgreSQL for some work. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const cpu = () => exactCpuSeconds(process.pid) + treeCpuSeconds(server.pid);
  const before = cpu();
  await work();
  await sleep(100);
  return cpu() - before;
}

const readOnly = async (): Promise<void> => {
  const report = await client.export({}, { format: 'ndjson', verify: false });
  for await (const _bytes of report);
};

const rows = [...syntheticRecords(options.records, 1)].map(({ record }) =>
  rowOf(JSON.parse(record) as Subscription, record),
);
const names =
  'id, status, activation_date, expiration_date, created_date, product_id, product_name, product_period, product_period_unit, product_plan_id, iccid, device_id, auto_renew';

async function insertBare(file: string): Promise<void> {
  const database = new DatabaseSync(file);
  database.exec(
    `pragma journal_mode = wal; begin; create table bare (${names.replace('id,', 'id text primary key,')})`,
  );
  const insert = database.prepare(`insert into bare values (${rows[0]?.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...(row.slice(0, 12) as string[]), Number(row[12]));
  database.exec('commit');
  database.close();
}

async function copyBare(table: string): Promise<void> {
  const database = new pg.Client({ connectionString: server.url });
  await database.connect();
  const types = [
    'text',
    'text',
    'timestamptz',
    'timestamptz',
    'timestamptz',
    'text',
    'text',
    'int',
    'text',
    'text',
    'text',
    'text',
    'bool',
  ];
  await database.query(
    `create table ${table} (${names
      .split(', ')
      .map((name, at) => `${name} ${types[at]}`)
      .join(', ')})`,
  );
  const line = (row: Row) => `${row.map((cell) => cell ?? '\\N').join('\t')}\n`;
  const lines = function* () {
    for (let at = 0; at < rows.length; at += 500)
      yield rows
        .slice(at, at + 500)
        .map(line)
        .join('');
  };
  await pipeline(Readable.from(lines()), database.query(copyFrom(`copy ${table} from stdin`)));
  await database.query(`alter table ${table} add primary key (id)`);
  await database.end();
}

const sync = async (to: string, table: string): Promise<void> => {
  await runSync(source, await openDestination({ to, table }, async () => undefined));
};

const destinations = {
  SQLite: {
    floor: (round: number) => insertBare(join(folder, `bare-${round}.db`)),
    sync: (round: number) => sync(`sqlite:${join(folder, `copy-${round}.db`)}`, 'copy'),
  },
  PostgreSQL: {
    floor: (round: number) => copyBare(`bare_${round}`),
    sync: (round: number) => sync(server.url, `copy_${round}`),
  },
};

const lines: string[] = [];
for (const [name, { floor, sync: syncOnce }] of Object.entries(destinations)) {
  const measured: { read: number; write: number; sync: number }[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    const read = await cpuOf(readOnly);
    const write = await cpuOf(() => floor(round));
    const own = await cpuOf(() => syncOnce(round));
    if (round > 0) measured.push({ read, write, sync: own }); // the first one warms up
  }
  const middle = (of: (each: (typeof measured)[number]) => number): number => median(measured.map(of));
  const perSecond = (seconds: number): string => Math.round(options.records / seconds).toLocaleString('en');
  const cells = [
    name,
    middle(({ read }) => read).toFixed(2),
    middle(({ write }) => write).toFixed(2),
    perSecond(middle(({ read, write }) => read + write)),
    perSecond(middle((each) => each.sync)),
    middle(({ read, write, sync: own }) => (read + write) / own).toFixed(2),
  ];
  lines.push(`| ${cells.join(' | ')} |`);
}
await ours.stop();
await server.stop();
await opened.close();
rmSync(folder, { recursive: true });

const text = `# The first copy of \`subreport sync\`

Written by \`node bench/sync/first-copy.ts\`: ${options.records.toLocaleString('en')} records, ${options.rounds} rounds after one that warms up, medians. The floor reads the NDJSON export without
looking at it, and writes rows that are in memory, with one prepared insert or \`COPY\`. CPU time is that of the reading process and of the PostgreSQL with the copy, not of the service. A sync also checks
the export's SHA-256, parses each record, and compares it with what its row gives. Goal: at least 0.5 of the floor.

${machineFacts()}.

| copy in | floor: reading, CPU s | floor: writing, CPU s | floor, records per CPU s | sync, records per CPU s | sync ÷ floor |
|---|---|---|---|---|---|
${lines.join('\n')}
`;
if (options.dryRun) process.stdout.write(text);
else writeFileSync(new URL('../results/sync.md', import.meta.url), text);
