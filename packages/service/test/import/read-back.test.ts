import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { postgresUrl } from '../../../../test/support/engines.ts';
import { hasTools } from '../../../../test/support/has-tools.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { storedRecords } from '../../../../test/support/stored-records.ts';
import { snapshotFormats } from '../../../cli/sync/files/file-format.ts';
import { type ChangingReport, createChangingReport, environmentOf } from '../../../cli/test/sync/changing-report.ts';
import { startBesideFolder } from '../../../cli/test/sync/start-beside-folder.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import { openStore } from '../../storage/open-store.ts';
import type { TenantId } from '../../storage/store.ts';

// Each file that a program of ours writes, read by an import.

const { folder, service } = await startBesideFolder('read-back');
const dataDir = join(folder, 'data');
const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, onConnectionError: () => undefined });
afterAll(() => store.close());
let report: ChangingReport;
beforeAll(async () => {
  report = await createChangingReport(service, 'acme', 4);
  for (let change = 0; change < 30; change += 1) await report.change();
});

let count = 0;

const turned = recordFields.map(({ name }) => name).toReversed();

/** What writes the report, to a place named @, to a database or to standard output. */
const commands: readonly string[][] = [
  ...['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'jsonl', 'parquet', 'xlsx'].map((end) => ['export', `@.${end}`]),
  ...['csv', 'ndjson'].map((end) => ['export', `@.${end}`, '--fields', turned.join(), '--sort', '-expirationDate']),
  ['export', '@.csv', '--dates', 'local', '--zone', 'Asia/Kolkata'],
  ...['csv', 'ndjson', 'json'].map((format) => ['list', '--all', '-o', format]),
  ...snapshotFormats.map((format) => ['sync', '--to', 'dir:@', '--format', format]),
  ...(hasTools('sqlite3') ? [['sync', '--to', 'sqlite:@']] : []),
  ['sync', '--to', 'postgres:', '--table', 'read_back'],
];

/** The CSV of a copy in a table, as its database writes it. */
async function dump(args: readonly string[], place: string): Promise<Buffer | undefined> {
  if (args[2] === 'sqlite:@') return execFileSync('sqlite3', ['-csv', '-header', place, 'select * from subscriptions']);
  if (args[2] !== 'postgres:') return undefined;
  const client = await connectPostgres(await postgresUrl());
  const copied = await buffer(client.query(copyTo('copy read_back to stdout (format csv, header)')));
  await client.query('drop table read_back');
  await client.end();
  return copied;
}

/** Runs a command, and returns the file that it wrote, or one of what it printed. */
async function write(args: readonly string[]): Promise<string> {
  const place = join(folder, `${count}`);
  if (args.includes('dir:@')) mkdirSync(place);
  const url = await postgresUrl();
  const given = args.map((each) => (each === 'postgres:' ? url : each.replace('@', place)));
  const { stdout } = await runHere(given, environmentOf(service, report.credentials));
  const [, copied = join(folder, args[1]?.replace('@', `${count}`) ?? '')] = / in (\S+)\n$/.exec(stdout) ?? [];
  const text = (await dump(args, place)) ?? (args[0] === 'list' ? stdout : undefined);
  if (text === undefined) return copied;
  const file = `${place}.${args[0] === 'list' ? args.at(-1) : 'csv'}`;
  writeFileSync(file, text);
  return file;
}

/** The remedy for what an import cannot read. */
const refusals: readonly (readonly [end: RegExp, remedy: string])[] = [
  [/parquet$/, 'it is Parquet; export CSV or NDJSON'],
  [/xlsx$/, 'it is a workbook or a zip archive; save the sheet as CSV UTF-8'],
  [/\.json$/, "it is a JSON array; convert it with: jq -c '.[]' FILE"],
];

test.each(commands)('an import reads the records that %s %s %s %s wrote, or says what to do', async (...args) => {
  count += 1;
  const file = await write(args);
  const environment = { DATA_DIR: dataDir };
  await runHere(['tenant', 'create', `t${count}`], environment);
  const { code, stderr } = await runHere(['import', file, '--tenant', `t${count}`, '--strict'], environment);
  const [, remedy] = refusals.find(([end]) => end.test(file)) ?? [];
  const [records, read] = [
    await storedRecords(service.store, report.tenant),
    await storedRecords(store, `t${count}` as TenantId),
  ];
  expect([code, stderr]).toEqual(remedy === undefined ? [0, ''] : [1, expect.stringContaining(remedy)]);
  expect(records.length).toBeGreaterThan(9);
  expect(read).toEqual(remedy === undefined ? records : []);
});
