import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Row, rowOf } from '../../packages/cli/sync/record-row.ts';
import { createClient } from '../../packages/client/index.ts';
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
// at it, and writing what is in memory already: rows with COPY or one prepared insert, lines to
// /dev/null. CPU time is that of the command with its start, and of the PostgreSQL with the copy,
// not of the service. Memory is the peak of the command, also with a tenth of the records.
//   npm run bench -- sync-first --records 1000000 --rounds 2

const options = readOptions({ records: 1_000_000, rounds: 2 });
const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-sync-'));
const opened = await openBenchSqlite();
const tenants = [
  ...(await loadDataSet(opened.store, options.records, 1)),
  ...(await loadDataSet(opened.store, options.records / 10, 1, 'tenth-')),
];
const ours = await startOurs(opened, tenants);
const server = await startPostgres();
const [credentials, fewer] = ours.clients;
if (credentials === undefined || fewer === undefined) throw new RangeError('Cannot measure: there must be two clients');
const url = `http://127.0.0.1:${ours.port}`;
const client = createClient({
  url,
  clientId: credentials.client_id,
  clientSecret: credentials.client_secret,
  tokenUrl: `${url}/oauth2/token`,
});

/** CPU seconds of this process and of PostgreSQL for some work. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const cpu = () => exactCpuSeconds(process.pid) + treeCpuSeconds(server.pid);
  const before = cpu();
  await work();
  await sleep(100);
  return cpu() - before;
}

/** What the command tells of itself when it ends. */
interface Measured {
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

const probe = `data:text/javascript,process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  console.error(JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMiB: maxRSS / 1024 }));
})`;

/** Runs the command in a process of its own. */
async function sync(to: string, table: string, reader: (typeof ours.clients)[number]): Promise<Measured> {
  const { client_id, client_secret } = reader;
  const args = [
    '--import',
    probe,
    'packages/service/cli/subreport.mjs',
    'sync',
    '--to',
    to,
    ...(to === 'stdout:ndjson' ? [] : ['--table', table]),
    '--quiet',
  ];
  const environment = { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: client_id, SUBREPORT_CLIENT_SECRET: client_secret };
  const before = treeCpuSeconds(server.pid);
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [printed] = await Promise.all([textOf(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(printed);
  await sleep(100);
  const { cpuSeconds, peakMiB }: Measured = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
  return { cpuSeconds: cpuSeconds + treeCpuSeconds(server.pid) - before, peakMiB };
}

const readOnly = async (): Promise<void> => {
  const report = await client.export({}, { format: 'ndjson', verify: false });
  for await (const _bytes of report);
};

// before the rows are in memory: each collection of garbage would visit them
const reads: number[] = [];
for (let round = 1; round <= options.rounds; round += 1) reads.push(await cpuOf(readOnly));
const read = median(reads);

const records = [...syntheticRecords(options.records, 1)].map(({ record }) => record);
const rows = records.map(rowOf);
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

async function writeLines(): Promise<void> {
  const pieces = function* () {
    for (let at = 0; at < records.length; at += 500) yield `${records.slice(at, at + 500).join('\n')}\n`;
  };
  await pipeline(Readable.from(pieces()), createWriteStream('/dev/null'));
}

/** A copy, and its floor besides reading. `name` is different in each run. */
const destinations: Readonly<Record<string, { floor(name: string): Promise<void>; to(name: string): string }>> = {
  SQLite: {
    floor: (name) => insertBare(join(folder, `bare-${name}.db`)),
    to: (name) => `sqlite:${join(folder, `${name}.db`)}`,
  },
  PostgreSQL: { floor: (name) => copyBare(`bare_${name}`), to: () => server.url },
  'stdout:ndjson': { floor: writeLines, to: () => 'stdout:ndjson' },
};

const lines: string[] = [];
for (const [name, { floor, to }] of Object.entries(destinations)) {
  const measured: { write: number; sync: number; peakMiB: number }[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const write = await cpuOf(() => floor(`r${round}`));
    const { cpuSeconds, peakMiB } = await sync(to(`copy_${round}`), `copy_${round}`, credentials);
    measured.push({ write, sync: cpuSeconds, peakMiB });
  }
  const { peakMiB } = await sync(to('tenth'), 'tenth', fewer);
  const middle = (of: (each: (typeof measured)[number]) => number): number => median(measured.map(of));
  const perSecond = (seconds: number): string => Math.round(options.records / seconds).toLocaleString('en');
  const cells = [
    name,
    read.toFixed(2),
    middle(({ write }) => write).toFixed(2),
    perSecond(middle(({ write }) => read + write)),
    perSecond(middle((each) => each.sync)),
    middle(({ write, sync: own }) => (read + write) / own).toFixed(2),
    Math.round(peakMiB),
    Math.round(middle((each) => each.peakMiB)),
  ];
  lines.push(`| ${cells.join(' | ')} |`);
}
await ours.stop();
await server.stop();
await opened.close();
rmSync(folder, { recursive: true });

const shown = (count: number): string => count.toLocaleString('en');
const text = `${shown(options.records)} records, medians of ${options.rounds} rounds. The floor reads the NDJSON export without looking at it, and writes what is in
memory already: rows with one prepared insert or \`COPY\`, lines to /dev/null. CPU time is that of the command with its start, and of the PostgreSQL with the copy, not of the service. A sync also checks
the export's SHA-256 and each record's members, and counts the copy. Goal: at least 0.5 of the floor, and memory that does not grow with the report.

${machineFacts()}.

| copy in | floor: reading, CPU s | floor: writing, CPU s | floor, records per CPU s | sync, records per CPU s | sync ÷ floor | peak MiB with ${shown(options.records / 10)} | with ${shown(options.records)} |
|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`;
console.log(text);
