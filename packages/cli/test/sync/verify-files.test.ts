import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, expect, test } from 'vitest';
import { drawPart } from '../../../../test/support/draw.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import type { Manifest } from '../../sync/files/manifest.ts';
import { linesOfText } from '../../sync/files/text-file.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';

const rows = Array.from({ length: 25 }, (_, n) =>
  subscriptionRow({
    // the last one looks like a formula
    id: n === 24 ? '-000024' : `s${String(n).padStart(6, '0')}`,
    createdDate: 1_700_000_000 + n,
    deviceId: `dev-${n}`,
  }),
);

const { folder, service } = await startBesideFolder('verify');
let report: ChangingReport;
beforeAll(async () => {
  report = await createChangingReport(service, 'verified', 1);
  await report.load(rows.slice(0, 20));
  await report.load(rows);
});

let count = 0;
/** Creates a place of files. */
function newPlace(): string {
  count += 1;
  mkdirSync(join(folder, String(count)));
  return join(folder, String(count));
}

const run = (place: string, ...args: string[]) =>
  runHere(['sync', ...args, '--to', `dir:${place}`], environmentOf(service, report.credentials));

/** Verifies without a service. */
const runAlone = (place: string, ...args: string[]) =>
  runHere(['sync', 'verify', '--to', `dir:${place}`, ...args], { XDG_CONFIG_HOME: folder });

const write = (place: string, second: number, format: string) =>
  run(place, 'run', '--format', format, '--scheduled-for', `2026-11-23T03:00:0${second}Z`);

/** A file and its manifest, in the folder of its run. */
class Written {
  readonly folder: string;
  readonly manifestName: string;

  constructor(place: string, second: number) {
    this.folder = join(place, `2026-11-23T03000${second}Z`);
    this.manifestName = readdirSync(this.folder).find((name) => name.startsWith('manifest-')) ?? '';
  }

  get manifest(): Manifest {
    return JSON.parse(readFileSync(join(this.folder, this.manifestName), 'utf8'));
  }

  set manifest(manifest: Manifest) {
    writeFileSync(join(this.folder, this.manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  }

  get file(): string {
    return join(this.folder, this.manifest.file);
  }

  /** Changes what the manifest says. */
  claim(claims: Partial<Manifest>, ofReport: Partial<Manifest['report']> = {}): void {
    const { manifest } = this;
    this.manifest = { ...manifest, ...claims, report: { ...manifest.report, ...ofReport } };
  }

  /** Changes the content of the file, and the manifest so that it agrees with the file. */
  async forge(change: (text: string) => string | Uint8Array): Promise<void> {
    const isGzip = this.file.endsWith('.gz');
    const before = readFileSync(this.file);
    const content = Buffer.from(change((isGzip ? gunzipSync(before) : before).toString()));
    const { format } = this.manifest;
    const [kind = format] = format.split('.') as [typeof format];
    const lines = (await Array.fromAsync(linesOfText(chunksOf(content), { format: kind }, []))).flat();
    const sent = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    this.forgeBytes(sent, isGzip ? gzipSync(content) : content);
  }

  /** `sent`: the export that such a file would be of. */
  forgeBytes(sent: Uint8Array, bytes: Uint8Array): void {
    writeFileSync(this.file, bytes);
    this.claim({ bytes: bytes.length, sha256: sha256(bytes) }, { sha256: sha256(sent) });
  }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const swapLines = (text: string): string =>
  text.replace(/^([^\n]*s000001\b[^\n]*\n)([^\n]*\n)/m, (_all, one: string, two: string) => two + one);

/** What somebody else does to the newest file, and what `verify` says of it. */
type Alteration = readonly [
  what: string,
  format: string,
  alter: (file: Written, place: string) => unknown,
  said: string,
];

const zeros = '0'.repeat(64);

/** Claims of the manifest, or of its report, that the file shows to be wrong. */
const claims: readonly (readonly [format: string, claims: Partial<Manifest>, said: string])[] = [
  ['csv', { rows: 24 }, 'rows 25, manifest 24'],
  ['parquet', { rows: 26 }, 'rows 25, manifest 26'],
  ['csv', { bytes: 7 }, ', manifest 7'],
  ['csv', { sha256: zeros }, `manifest ${zeros}`],
  ['csv', { scheduled_for: '2026-11-24T03:00:01Z' }, "scheduled_for '2026-11-24T03:00:01Z', folder 2026-11-23T030001Z"],
  ['csv', { completed_at: '2999-11-24T03:00:01Z' }, "completed_at '2999-11-24T03:00:01Z', which is yet to come"],
  ['csv', { format: 'ndjson' }, "format 'ndjson', file 'subscriptions-"],
  ['csv', { columns: [] }, 'columns id VARCHAR, status VARCHAR, activation_date '],
  ['csv', { schema_version: 2 as 1 }, 'must be a manifest that sync wrote'],
];

/** Claims of the report that only the service shows to be wrong. */
const reportClaims: readonly (readonly [format: string, claims: Partial<Manifest['report']>, said: string])[] = [
  ['csv', { revision: 1 }, '-000024: in the copy, not in the report'],
  ['parquet', { revision: 99 }, 'Cannot compare with the report at revision 99'],
  [
    'csv',
    { applied_filters: 'sort=createdDate&status=ACTIVE' },
    "report.applied_filters 'sort=createdDate&status=ACTIVE', report 'date-field=created&sort=createdDate'",
  ],
  ['csv', { client_id: 'other' }, "current value is files for 'other'"],
  ['csv', { service: 'https://b/c' }, 'of https://b/c'],
];

const replaceBytes =
  (change: (bytes: Buffer) => Uint8Array | string) =>
  ({ file }: Written) =>
    writeFileSync(file, change(readFileSync(file)));

/** Those that a file and its manifest alone show. */
const shownByFile: readonly Alteration[] = [
  ...claims.map(
    ([format, value, said]): Alteration => [JSON.stringify(value), format, (file) => file.claim(value), said],
  ),
  ...['csv.gz', 'parquet'].map(
    (format): Alteration => [
      'the digest of the report',
      format,
      (file) => file.claim({}, { sha256: zeros }),
      `, manifest ${zeros}`,
    ],
  ),
  ...['csv', 'ndjson.gz', 'parquet'].map(
    (format): Alteration => [
      'the type of a column',
      format,
      (file) => file.claim({ columns: file.manifest.columns.with(0, { name: 'id', type: 'BIGINT' }) }),
      ', manifest id BIGINT, status VARCHAR',
    ],
  ),
  [
    'the files',
    'csv',
    (file, place) => file.claim({ files: [...new Written(place, 0).manifest.files, ...file.manifest.files] }),
    'files 2026-11-23T030000Z/subscriptions-',
  ],
  ['a byte', 'csv', replaceBytes((bytes) => `${bytes}`.replace('dev-1,', 'dev-x,')), 'sha256 '],
  ['a file cut short', 'csv', replaceBytes((bytes) => bytes.subarray(0, 1_000)), 'bytes 1000, '],
  ['a byte in gzip', 'ndjson.gz', replaceBytes((bytes) => flip(bytes, 40)), 'it must be gzip'],
  ['gzip cut short', 'csv.gz', replaceBytes((bytes) => bytes.subarray(0, 200)), 'bytes 200, '],
  ['a byte in Parquet', 'parquet', replaceBytes((bytes) => flip(bytes, 200)), 'sha256 '],
  ['no Parquet', 'parquet', replaceBytes(() => 'else'), 'it must be a file of Parquet'],
  ['a file gone', 'csv', ({ file }) => rmSync(file), 'there is no such file'],
  [
    'a manifest of another name',
    'csv',
    ({ folder: at, manifestName }) => renameSync(join(at, manifestName), join(at, `manifest-${'0'.repeat(16)}.json`)),
    `of another run than manifest-${'0'.repeat(16)}.json`,
  ],
  [
    'an older file with its manifest',
    'csv',
    ({ folder: at }, place) => {
      rmSync(at, { recursive: true });
      cpSync(new Written(place, 0).folder, at, { recursive: true });
    },
    "scheduled_for '2026-11-23T03:00:00Z', folder 2026-11-23T030001Z",
  ],
];

const flip = (bytes: Buffer, at: number): Buffer => {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};

const difference = "s000001: device_id 'other', report 'dev-1'";
const changeDevice = (text: string) => text.replace(/\bdev-1\b/, 'other');

/** Changes of a file whose manifest agrees with it; the last one is its number of rows. */
const forgeries: readonly (readonly [
  what: string,
  format: string,
  change: (text: string) => string,
  said: string,
  rows?: number,
])[] = [
  ...['csv', 'csv.gz', 'ndjson', 'ndjson.gz'].map((format) => ['a value', format, changeDevice, difference] as const),
  [
    'a row gone',
    'csv',
    (text) => text.replace(/^s000001,[^\n]*\n/m, ''),
    's000001: in the report, not in the copy',
    24,
  ],
  [
    'a row more',
    'ndjson',
    (text) => text + text.split('\n')[0]?.replace('s000000', 'more')?.concat('\n'),
    'more: in the copy, not in the report',
    26,
  ],
  ['a row twice', 'csv', (text) => text.replace(/^s000001,[^\n]*\n/m, '$&$&'), 's000001: twice in the copy', 26],
  ['two rows swapped', 'csv', (text) => swapLines(text), 'not at its place in the order of the report'],
  [
    'a type',
    'ndjson',
    (text) => text.replace('"period":30', '"period":"30"'),
    "s000000: product.period '30', report 30",
  ],
  [
    'half a second',
    'csv',
    (text) => text.replace('2023-11-14T22:13:21Z', '2023-11-14T22:13:21.500Z'),
    "s000001: created_date '2023-11-14T22:13:21.500Z', report '2023-11-14T22:13:21Z'",
  ],
  [
    'a value for a spreadsheet',
    'csv',
    (text) => text.replace(/^-000024,/m, "'-000024,"),
    "'-000024: in the copy, not in the report",
  ],
  ['a member more', 'ndjson', (text) => text.replace('{"id":"s000001"', '{"note":"","id":"s000001"'), 's000001: '],
  ['a column name', 'csv', (text) => text.replace('device_id', 'imei'), 'columns id,status'],
  ['no record', 'ndjson', (text) => text.replace(/^.*s000001.*$/m, 'else'), "no record 'else'"],
  ['the last line feed', 'csv', (text) => text.slice(0, -1), 'it must end with a line feed'],
  ['another end of lines', 'csv', (text) => text.replaceAll('\r', ''), "no record 's000001,"],
];

/** Those that agree with their manifest, which only the report shows. */
const shownByReport: readonly Alteration[] = [
  ...forgeries.map(
    ([what, format, change, said, count = 25]): Alteration => [
      what,
      format,
      async (file) => {
        await file.forge(change);
        file.claim({ rows: count });
      },
      said,
    ],
  ),
  ...reportClaims.map(
    ([format, value, said]): Alteration => [JSON.stringify(value), format, (file) => file.claim({}, value), said],
  ),
];

/** Two files of each format, verified; each alteration has a copy of them. */
const templates = new Map<string, string>();

async function templateOf(format: string): Promise<string> {
  const known = templates.get(format);
  if (known !== undefined) return known;
  const place = newPlace();
  for (const second of [0, 1]) expect(await write(place, second, format)).toMatchObject({ code: 0, stderr: '' });
  expect(await run(place, 'verify')).toMatchObject({ code: 0, stderr: '' });
  templates.set(format, place);
  return place;
}

async function alter([, format, change]: Alteration): Promise<string> {
  const [place, template] = [newPlace(), await templateOf(format)];
  cpSync(template, place, { recursive: true });
  await change(new Written(place, 1), place);
  return place;
}

test.each([...drawPart(shownByFile, 5), ...shownByReport])('finds and names %s (%s)', async (...alteration) => {
  const place = await alter(alteration);
  const { code, stdout, stderr } = await run(place, 'verify');
  expect([code, stdout]).toEqual([expect.any(Number), '']);
  expect(stderr).toContain(alteration[3]);
  expect(code).not.toBe(0);
});

test.each(shownByFile)('finds and names %s (%s) without a service', async (...alteration) => {
  const place = await alter(alteration);
  const { code, stdout, stderr } = await runAlone(place);
  expect([code === 0, stdout]).toEqual([false, '']);
  expect(stderr).toContain(alteration[3]);
});

test('without a service says that the file was not compared with the report', async () => {
  const place = newPlace();
  await write(place, 1, 'csv');
  expect(await runAlone(place)).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^The newest file, of 2026-11-23T03:00:01Z, equals its manifest, of revision 2: 25 rows, .*; it was not compared with the report: no service is given\n$/,
    ),
  });
  const { stdout } = await runAlone(place, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ rows: 25, compared_with: 'manifest' });
});

test('names the newest file, and the one whose manifest is gone', async () => {
  const place = newPlace();
  for (const second of [0, 1]) await write(place, second, 'ndjson');
  const newest = new Written(place, 1);
  expect((await run(place, 'verify')).stdout).toMatch(
    /^The newest file, of 2026-11-23T03:00:01Z, equals its manifest and the report at revision 2: 25 rows, /,
  );
  rmSync(join(newest.folder, newest.manifestName));
  const { code, stdout, stderr } = await run(place, 'verify');
  expect([code, stdout]).toEqual([75, '']);
  expect(stderr).toContain(
    'current value is 2026-11-23T030001Z without one; the newest file is of 2026-11-23T03:00:00Z',
  );
  expect(await write(place, 2, 'ndjson')).toMatchObject({ code: 0 });
  expect(await run(place, 'verify')).toMatchObject({ code: 0, stderr: '' });
});

test('--all reads every file, and names those that are wrong', async () => {
  const place = newPlace();
  for (const [second, format] of ['csv', 'parquet', 'ndjson.gz'].entries()) await write(place, second, format);
  const { code, stdout } = await run(place, 'verify', '--all');
  expect([code, stdout.match(/ equals its manifest and the report at revision 2: 25 rows/g)?.length]).toEqual([0, 3]);
  const { stdout: json } = await run(place, 'verify', '--all', '--json');
  expect(JSON.parse(json).files.map((file: Manifest) => file.format)).toEqual(['ndjson.gz', 'parquet', 'csv']);
  await new Written(place, 0).forge(changeDevice);
  expect(await run(place, 'verify')).toMatchObject({ code: 0 });
  const refused = await run(place, 'verify', '--all');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain(difference);
  const older = new Written(place, 0);
  expect(refused.stderr).toContain(basename(older.file));
  // as a run that was killed leaves it
  rmSync(join(older.folder, older.manifestName));
  expect(await run(place, 'verify', '--all')).toMatchObject({ code: 0, stderr: '' });
});

test('finds and names a value, a type and a half second in a file of Parquet that agrees with its manifest', async () => {
  const place = newPlace();
  await write(place, 1, 'parquet');
  const newest = new Written(place, 1);
  const found = await parquetReadObjects({ file: new Uint8Array(readFileSync(newest.file)).buffer });
  const forge = async (change: (row: Record<string, unknown>, at: number) => object): Promise<string> => {
    const changed = found.map((row, at) => change({ ...row }, at) as Record<string, unknown>);
    const columnData = Object.keys(changed[0] ?? {}).map((name) => ({
      name,
      data: changed.map((row) => row[name]),
    }));
    const bytes = new Uint8Array(parquetWriteBuffer({ columnData: columnData as ColumnSource[] }));
    newest.forgeBytes(bytes, bytes);
    const { code, stderr } = await run(place, 'verify');
    expect(code).toBe(1);
    return stderr;
  };
  const at1 = (value: object) => (row: object, at: number) => (at === 1 ? { ...row, ...value } : row);
  expect(await forge(at1({ device_id: 'other' }))).toContain(difference);
  const later = new Date('2023-11-14T22:13:21.500Z');
  expect(await forge(at1({ created_date: later }))).toContain(
    "s000001: created_date '2023-11-14T22:13:21.500Z', report '2023-11-14T22:13:21Z'",
  );
  expect(await forge((row) => ({ ...row, auto_renew: 'true' }))).toContain('auto_renew VARCHAR');
  expect(await forge((row, at) => ({ ...row, status: at === 1 ? null : 'ACTIVE' }))).toContain(
    "s000001: status absent, report 'ACTIVE'",
  );
});

test('cannot tell of a file whose revision the service no longer has: exit code 75, and --all goes on', async () => {
  const changing = await createChangingReport(service, 'erased', 1);
  await changing.load(rows.slice(0, 3));
  const place = newPlace();
  const runIn = (...args: string[]) =>
    runHere(['sync', ...args, '--to', `dir:${place}`], environmentOf(service, changing.credentials));
  await runIn('run', '--scheduled-for', '2026-11-23T03:00:00Z');
  await changing.erase(['s000001']);
  expect(await runIn('verify')).toMatchObject({
    code: 75,
    stdout: '',
    stderr: expect.stringMatching(/^Cannot compare with the report at revision 1: /),
  });
  await runIn('run', '--scheduled-for', '2026-11-23T03:00:01Z');
  const { code, stdout } = await runIn('verify', '--all');
  expect([code, stdout]).toEqual([0, expect.stringContaining('; it was not compared with the report: Cannot compare')]);
});
