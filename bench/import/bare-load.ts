import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { readNdjson } from '../../packages/service/import/read-ndjson.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { treeCpuSeconds } from '../support/process-tree.ts';

/** The column values of a record, ready for insertion. */
type ReadyRow = readonly (string | number | null)[];

const columns = [
  ...[
    'tenant_id',
    'id',
    'created_date',
    'activation_date',
    'expiration_date',
    'status',
    'product_id',
    'iccid',
    'email',
  ],
  ...['record', 'plan_id', 'device_id', 'auto_renew', 'revision'],
];
const batchRows = 10_000;

/** The CPU time and the elapsed time of a load. */
interface BareCost {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/**
 * Measures how long SQLite takes to insert the records of a file, prepared in memory, with one
 * prepared statement into a table with the same indexes.
 */
export async function loadBareSqlite(file: string, folder: string): Promise<BareCost> {
  const database = new DatabaseSync(join(folder, 'subreport.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const made = database
    .prepare("select sql from sqlite_master where tbl_name = 'subscription' and sql is not null order by type desc")
    .all();
  for (const { sql } of made)
    database.exec(
      String(sql)
        .replaceAll(/\bsubscription(?=\b)(?!_date)/g, 'bare')
        .replaceAll(/\bsubscription_/g, 'bare_'),
    );
  const insert = database.prepare(`insert into bare (${columns}) values (${columns.map(() => '?')})`);
  const cost = { cpuSeconds: 0, seconds: 0 };
  const measure = (work: () => void): void => {
    const [started, usedBefore] = [performance.now(), process.threadCpuUsage()];
    work();
    const { user, system } = process.threadCpuUsage(usedBefore);
    cost.cpuSeconds += (user + system) / 1e6;
    cost.seconds += (performance.now() - started) / 1000;
  };
  for await (const checked of batchesOf(file)) {
    const rows = checked.map(toReadyRow);
    measure(() => {
      database.exec('begin immediate');
      for (const row of rows) insert.run(...row);
      database.exec('commit');
    });
  }
  measure(() => database.exec('pragma wal_checkpoint(truncate)'));
  database.close();
  return cost;
}

/**
 * Measures how long PostgreSQL takes to COPY the records of a file, in its text format, into a
 * table with the same indexes; the server reads the file itself.
 */
export async function loadBarePostgres(file: string, url: string, serverPid: number): Promise<BareCost> {
  const ready = `${file}.copy`;
  await pipeline(Readable.from(copyLines(file)), createWriteStream(ready, { mode: 0o644 }));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'create table bare (like subscription including defaults including constraints including indexes)',
  );
  await client.query('checkpoint');
  const [started, usedBefore] = [performance.now(), treeCpuSeconds(serverPid)];
  await client.query(`copy bare (${columns}) from '${ready}'`);
  await client.query('checkpoint');
  const cost = {
    cpuSeconds: treeCpuSeconds(serverPid) - usedBefore,
    seconds: (performance.now() - started) / 1000,
  };
  await client.end();
  return cost;
}

async function* copyLines(file: string): AsyncGenerator<string> {
  const escaped = (value: string | number | null): string =>
    value === null ? '\\N' : String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
  for await (const rows of batchesOf(file))
    yield rows.map((row) => `${toReadyRow(row).map(escaped).join('\t')}\n`).join('');
}

async function* batchesOf(file: string): AsyncGenerator<readonly SubscriptionRow[]> {
  let rows: SubscriptionRow[] = [];
  for await (const { content } of readNdjson(createReadStream(file))) {
    const checked = 'value' in content ? checkRow(content.value) : content;
    if (!('row' in checked)) throw new Error('Cannot measure: every record must be right');
    rows.push(checked.row);
    if (rows.length < batchRows) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

const toReadyRow = (row: SubscriptionRow): ReadyRow => [
  ...['bench', row.id, row.createdDate, row.activationDate, row.expirationDate, row.status, row.productId],
  ...[row.iccid, row.email, row.record, row.planId, row.deviceId, row.autoRenew, 1],
];
