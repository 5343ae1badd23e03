import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { treeCpuSeconds } from '../support/process-tree.ts';
import { machineFacts, printSection } from '../support/results.ts';

// Compares an export (all=true, CSV and NDJSON) with the engine's own dump of the same JSON in the
// same order: COPY (select …) TO STDOUT on PostgreSQL, one prepared statement iterated on SQLite.
// This process reads all of them to the last byte, one after the other, in rounds. CPU time is that
// of the service and of PostgreSQL; for the dump, that of this process instead of the service.
//   npm run bench -- export
//   npm run bench -- export --records 200000 --rounds 3

const options = readOptions({ records: 1_000_000 });
const formats = ['ndjson', 'csv'] as const;
const records = 'select record from subscription where tenant_id = $1 order by created_date, id';

/** CPU time and size of a dump. */
interface Dump {
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** How long PostgreSQL may take to count the CPU time of a connection that was closed. */
const closingMs = 100;

/** Measures a dump that a process makes, with PostgreSQL if it has a server. */
async function timed(pid: number, serverPid: number | undefined, read: () => Promise<number>): Promise<Dump> {
  const cpu = (): number => exactCpuSeconds(pid) + (serverPid === undefined ? 0 : treeCpuSeconds(serverPid));
  const before = cpu();
  const bytes = await read();
  await sleep(closingMs);
  return { cpuSeconds: cpu() - before, bytes };
}

/** Reads an export over HTTP and samples the memory of the service; `grown` is in bytes. */
async function readExport(
  ours: OurService,
  serverPid: number | undefined,
  token: string,
  format: string,
): Promise<Dump & { grown: number }> {
  const before = ours.rssBytes() ?? Number.NaN;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, ours.rssBytes() ?? 0);
  }, 50);
  const dump = await timed(ours.pid, serverPid, async () => {
    const path = `/connect-api/v1/subscription?all=true&format=${format}`;
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' };
    const response = await fetch(`http://127.0.0.1:${ours.port}${path}`, { headers });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    return bytes;
  });
  clearInterval(watch);
  return { ...dump, grown: most - before };
}

/** Dumps a store directly, in this process. */
async function openBareDump(
  { store, folder, environment }: BenchStore,
  tenant: TenantId,
): Promise<{ read: () => Promise<number>; close: () => Promise<void> }> {
  if (store.engine === 'sqlite') {
    const database = new DatabaseSync(join(folder, 'subreport.db'), { readOnly: true });
    const statement = database.prepare(records.replace('$1', '?'));
    const read = async (): Promise<number> => {
      let bytes = 0;
      for (const row of statement.iterate(tenant)) bytes += String(row.record).length + 1;
      return bytes;
    };
    return { read, close: async () => database.close() };
  }
  const client = new pg.Client({ connectionString: environment.DATABASE_URL });
  await client.connect();
  await client.query("select set_config('app.tenant', $1, false)", [tenant]);
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  let bytes = 0;
  connection.on('copyData', ({ length }: { length: number }) => {
    bytes += length;
  });
  const read = async (): Promise<number> => {
    bytes = 0;
    await client.query(`copy (${records.replace('$1', `'${tenant}'`)}) to stdout`);
    return bytes;
  };
  return { read, close: () => client.end() };
}

async function measure(name: string, opened: BenchStore): Promise<void> {
  const [tenant] = await loadDataSet(opened.store, options.records, 1);
  if (tenant === undefined) throw new RangeError('Cannot measure: there must be a tenant');
  if (opened.store.engine === 'postgres') await opened.administer('vacuum analyze');
  const bare = await openBareDump(opened, tenant);
  const ours = await startOurs(opened, [tenant]);
  try {
    const token = ours.tokens.get(tenant) ?? '';
    const rounds = formats.map((format) => ({
      format,
      ratios: [] as number[],
      cpuSeconds: [] as number[],
      grown: [] as number[],
      bytes: 0,
    }));
    const bareCpuSeconds: number[] = [];
    const { serverPid } = opened;
    for (let round = 0; round <= options.rounds; round += 1) {
      const dump = await timed(process.pid, serverPid, bare.read);
      if (round > 0) bareCpuSeconds.push(dump.cpuSeconds);
      for (const each of rounds) {
        const { cpuSeconds, bytes, grown } = await readExport(ours, serverPid, token, each.format);
        each.bytes = bytes;
        if (round === 0) continue; // warm-up
        each.ratios.push(dump.cpuSeconds / cpuSeconds);
        each.cpuSeconds.push(cpuSeconds);
        each.grown.push(grown);
      }
    }
    const rows = rounds.map(({ format, ratios, cpuSeconds, grown, bytes }) => {
      const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
      const cells = [
        median(cpuSeconds).toFixed(2),
        `${median(ratios).toFixed(2)} (${range})`,
        (bytes / 1e6).toFixed(0),
      ];
      return `| ours, ${format} | ${cells.join(' | ')} | ${(Math.max(...grown) / 2 ** 20).toFixed(0)} |`;
    });
    const header = `| side | CPU s | bare ÷ side | MB | RSS growth, MiB, most of all rounds |
|---|---|---|---|---|
| bare dump | ${median(bareCpuSeconds).toFixed(2)} | 1.00 | | |`;
    const description = `The whole report of one tenant with ${options.records} records, with its SHA-256 and count, one reader. ${options.rounds} rounds after one that warms up. Goals: by CPU, CSV at least 0.7 and NDJSON at least 0.8; RSS growth at most 20 MiB. CPU is that of the service (of the reading process for the bare dump) and of PostgreSQL.`;
    const text = `${description}\n\n${machineFacts()}.\n\n${[header, ...rows].join('\n')}`;
    printSection(`Whole report, ${name}`, text);
  } finally {
    await ours.stop();
    await bare.close();
    await opened.close();
  }
}

await measure('SQLite, against iterating one statement', await openBenchSqlite());
await measure('PostgreSQL, against COPY', await openBenchPostgres());
