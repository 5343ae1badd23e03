import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { to as copyTo } from 'pg-copy-streams';
import { type FieldType, recordFields, valueAt } from '../../packages/contract/record-fields.ts';
import { queryDuckDb } from '../support/checker-packages.ts';
import { connectPostgres } from '../support/connect-postgres.ts';
import { postgresUrl } from '../support/engines.ts';
import { all, type CorpusFile, csv, csvOf, type FileRecord, mapping, ndjson, ndjsonOf } from './files.ts';

// Files of the corpus that programs write when the tests run, from a table of its records.

/** With what a record may lack, and both values of a boolean. */
const stored = [
  ...all,
  { ...all[0], id: 'c3Vi-1004', status: undefined, auto_renew: 'false', product: { id: 'p' } },
] as FileRecord[];

/** The statements that make the table `copied`, with the columns of `sync`. */
function tableOf(types: Readonly<Record<FieldType, string>>): string[] {
  const columns = recordFields.map(({ column, type }) => `${column} ${types[type]}`);
  const rows = stored.map((record) =>
    recordFields.map((field) => {
      const value = valueAt(record, field);
      if (value === undefined) return 'null';
      return field.type === 'boolean' || field.type === 'integer' ? value : `'${value}'`;
    }),
  );
  const values = rows.map((row) => `(${row.join()})`).join();
  return [`create temporary table copied (${columns.join()})`, `insert into copied values ${values}`];
}

const richTypes = { text: 'text', instant: 'timestamptz', integer: 'integer', boolean: 'boolean' };
const plainTypes = { text: 'text', instant: 'text', integer: 'integer', boolean: 'integer' };

const told = (note: string) => ({ records: stored, notes: [note] });
const letters = told('Read t and f as true and false');

/** What a program writes to standard output; `undefined` without the program, which is told. */
function written(program: string, args: readonly string[], input = ''): Buffer | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, { input });
  if (status === 0) return stdout;
  if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT' && !/No module named/.test(String(stderr)))
    throw new Error(`Cannot run ${program}: ${error?.message ?? stderr}`);
  console.error(
    `SKIPPED: files are not written by ${program}: install ${args.includes('-c') ? 'python3-pandas' : program}`,
  );
  return undefined;
}

/** Files of PostgreSQL: by `COPY`, and by psql where it is installed. */
async function postgresFiles(): Promise<CorpusFile[]> {
  const url = await postgresUrl();
  const table = tableOf(richTypes);
  const client = await connectPostgres(url);
  for (const statement of [...table, "set timezone = 'Asia/Kolkata'"]) await client.query(statement);
  const copy = (what: string, options = '') =>
    buffer(client.query(copyTo(`copy ${what} to stdout (format csv, header${options})`)));
  const billing = `(select id as subscription_id, status, created_date as created_at, activation_date as starts_at,
    expiration_date as ends_at, product_id as plan_code, 30 as plan_length, 'day' as plan_unit, iccid, device_id as imei,
    auto_renew as renews, 'ada@example.com' as customer_email, 5.00 as amount from copied)`;
  const product = (id: string) => ({ id, period: 30, period_unit: 'DAYS' }) as FileRecord['product'];
  const billed = { ...letters, records: stored.map((each) => ({ ...each, product: product(each.product.id) })) };
  const psql = written('psql', [url, '-qX'], `${table.join(';')};\n\\copy copied to pstdout csv header\n`);
  const files = [
    csv('COPY of PostgreSQL, in another time zone', await copy('copied'), letters),
    csv('COPY with all quoted, by semicolons', await copy('copied', ", delimiter ';', force_quote *"), letters),
    csv('COPY of a billing database', await copy(billing), billed, mapping('postgres-billing')),
    ...(psql === undefined ? [] : [csv('\\copy of psql', psql, letters)]),
  ];
  await client.end();
  return files;
}

/** Files of SQLite's shell, which alone writes CSV: its library has no means for that. */
function sqliteFiles(): CorpusFile[] {
  const bytes = written(
    'sqlite3',
    [':memory:'],
    `${tableOf(plainTypes).join(';')};\n.headers on\n.mode csv\nselect * from copied;\n`,
  );
  return bytes === undefined ? [] : [csv("SQLite's .mode csv", bytes, told('Read 1 and 0 as true and false'))];
}

async function duckFiles(folder: string): Promise<CorpusFile[]> {
  const nested = `select id, status, activation_date as "activationDate", expiration_date as "expirationDate", created_date as
    "createdDate", {id: product_id, name: product_name, period: product_period, period_unit: product_period_unit, plan_id:
    product_plan_id} as product, iccid, device_id, auto_renew from copied`;
  const [csvFile, jsonFile] = [join(folder, 'duck.csv'), join(folder, 'duck.ndjson')];
  const copies = [`copy copied to '${csvFile}' (header)`, `copy (${nested}) to '${jsonFile}' (format json)`];
  if (queryDuckDb === undefined) return [];
  await queryDuckDb(...tableOf(richTypes), ...copies);
  return [
    csv('COPY of DuckDB', readFileSync(csvFile), { records: stored }),
    ndjson('COPY of DuckDB as JSON', readFileSync(jsonFile), { records: stored }),
  ];
}

/** A missing period makes all of them floating-point numbers. */
const pandas = `
import sys, pandas
frame = pandas.read_json(sys.stdin, lines=True, dtype=False, convert_dates=['activationDate', 'expirationDate', 'createdDate'])
if sys.argv[1] == 'json':
    frame.to_json(sys.stdout, orient='records', lines=True, date_format='iso')
else:
    flat = pandas.json_normalize(frame.to_dict('records'))
    flat['auto_renew'] = flat['auto_renew'] == 'true'
    flat.to_csv(sys.stdout, index=False)
`;

/** Files of pandas and LibreOffice, which are too large for CI. */
function officeFiles(folder: string): CorpusFile[] {
  const [frame, lines] = ['csv', 'json'].map((form) =>
    written('/usr/bin/python3', ['-c', pandas, form], ndjsonOf(stored)),
  );
  writeFileSync(join(folder, 'sheet.csv'), csvOf({ records: stored }));
  const text = recordFields.map((_, at) => `${at + 1}/2`).join('/');
  const sheet = written('soffice', [
    `-env:UserInstallation=file://${folder}/profile`,
    '--headless',
    '--convert-to',
    'csv:Text - txt - csv (StarCalc):59,34,76,1',
    `--infilter=Text - txt - csv (StarCalc):44,34,76,1,${text}`,
    '--outdir',
    join(folder, 'out'),
    join(folder, 'sheet.csv'),
  ]);
  return [
    ...(frame === undefined ? [] : [csv('to_csv of pandas', frame, { records: stored })]),
    ...(lines === undefined ? [] : [ndjson('to_json of pandas', lines, { records: stored })]),
    ...(sheet === undefined
      ? []
      : [csv('LibreOffice', readFileSync(join(folder, 'out', 'sheet.csv')), { records: stored })]),
  ];
}

/** The files of all programs that this machine has. */
export async function programFiles(): Promise<readonly CorpusFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-corpus-'));
  try {
    return [...(await postgresFiles()), ...sqliteFiles(), ...(await duckFiles(folder)), ...officeFiles(folder)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
