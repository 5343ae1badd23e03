import { get } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { TenantId } from '../../src/storage/store.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts, writeSection } from '../support/results.ts';

// Compares an export (all=true, NDJSON) with the engine's own dump of the same JSON in the same
// order: COPY (select …) TO STDOUT on PostgreSQL, one prepared statement iterated on SQLite. This
// process reads both to the last byte, one after the other, in rounds.

const options = readOptions({ records: 1_000_000 });
const formats = ['ndjson', 'csv'] as const;
const records = 'select record from subscription where tenant_id = $1 order by created_date, id';

/** Duration and size of a dump. */
interface Dump {
  readonly seconds: number;
  readonly bytes: number;
}

async function timed(read: () => Promise<number>): Promise<Dump> {
  const began = performance.now();
  const bytes = await read();
  return { seconds: (performance.now() - began) / 1000, bytes };
}

/** Reads an export over HTTP and samples the memory of the service; `grown` is in bytes. */
async function readExport(ours: OurService, token: string, format: string): Promise<Dump & { grown: number }> {
  const before = ours.rssBytes() ?? Number.NaN;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, ours.rssBytes() ?? 0);
  }, 50);
  const dump = await timed(
    () =>
      new Promise<number>((resolve, reject) => {
        const path = `/connect-api/v1/subscription?all=true&format=${format}`;
        const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' };
        get({ host: '127.0.0.1', port: ours.port, path, headers }, (response) => {
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
          });
          response.on('end', () =>
            response.statusCode === 200 ? resolve(bytes) : reject(new Error(`it answered ${response.statusCode}`)),
          );
          response.on('error', reject);
        }).on('error', reject);
      }),
  );
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
    const rows: string[] = [];
    const rounds = formats.map((format) => ({
      format,
      ratios: [] as number[],
      seconds: [] as number[],
      grown: [] as number[],
      bytes: 0,
    }));
    const bareSeconds: number[] = [];
    for (let round = 0; round <= options.rounds; round += 1) {
      const dump = await timed(bare.read);
      if (round > 0) bareSeconds.push(dump.seconds);
      for (const each of rounds) {
        const { seconds, bytes, grown } = await readExport(ours, token, each.format);
        each.bytes = bytes;
        if (round === 0) continue; // warm-up
        each.ratios.push(dump.seconds / seconds);
        each.seconds.push(seconds);
        each.grown.push(grown);
      }
    }
    rows.push(`| bare dump | ${median(bareSeconds).toFixed(2)} | 1.00 | | |`);
    for (const { format, ratios, seconds, grown, bytes } of rounds) {
      const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
      const memory = (Math.max(...grown) / 2 ** 20).toFixed(0);
      rows.push(
        `| ours, ${format} | ${median(seconds).toFixed(2)} | ${median(ratios).toFixed(2)} (${spread}) | ${(bytes / 1e6).toFixed(0)} | ${memory} |`,
      );
    }
    const header = '| side | s | speed ÷ bare | MB | RSS growth, MiB, most of all rounds |\n|---|---|---|---|---|';
    const description = `The whole report of one tenant with ${options.records} records, with its SHA-256 and count, one reader. ${options.rounds} rounds after one that warms up.`;
    const text = `${description}\n\n${machineFacts()}.\n\n${header}\n${rows.join('\n')}`;
    if (options.dryRun) console.log(text);
    else writeSection(`Whole report, ${name}`, text);
  } finally {
    await ours.stop();
    await bare.close();
    await opened.close();
  }
}

await measure('SQLite, against iterating one statement', await openBenchSqlite());
await measure('PostgreSQL, against COPY', await openBenchPostgres());
