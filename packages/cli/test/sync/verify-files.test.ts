import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWhole } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import type { Manifest } from '../../sync/files/manifest.ts';
import { linesOfText } from '../../sync/files/text-file.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { hasReceivers, localServer, type Place } from './file-servers.ts';

const rows = Array.from({ length: 25 }, (_, n) =>
  subscriptionRow({
    // the last one looks like a formula
    id: n === 24 ? '-000024' : `s${String(n).padStart(6, '0')}`,
    createdDate: 1_700_000_000 + n,
    deviceId: `dev-${n}`,
  }),
);

let folder: string;
let service: TestService;
let report: ChangingReport;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-verify-'));
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'verified', 1);
  await report.load(rows.slice(0, 20));
  await report.load(rows);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
const places = {
  dir(): Place {
    count += 1;
    const at = join(folder, `dir-${count}`);
    mkdirSync(at);
    return { to: `dir:${at}`, environment: {}, folder: at };
  },
  rclone(): Place {
    count += 1;
    return localServer(join(folder, 'local')).placeOf(`place-${count}`);
  },
};

const run = (place: Place, ...args: string[]) =>
  runHere(['sync', ...args, '--to', place.to], {
    ...place.environment,
    ...environmentOf(service, report.credentials),
  });

/** Writes at the receiver: each step through rclone would be a process. */
const write = ({ folder: at }: Place, second: number, format: string) =>
  run(
    { to: `dir:${at}`, environment: {}, folder: at },
    ...['run', '--format', format, '--scheduled-for', `2026-11-23T03:00:0${second}Z`],
  );

/** A file and its manifest, in the folder of its run. */
class Written {
  readonly folder: string;
  readonly manifestName: string;

  constructor(place: Place, second: number) {
    this.folder = join(place.folder, `2026-11-23T03000${second}Z`);
    this.manifestName = readdirSync(this.folder).find((name) => name.startsWith('manifest-')) ?? '';
  }

  get manifest(): Manifest {
    return JSON.parse(readFileSync(join(this.folder, this.manifestName), 'utf8'));
  }

  /** Also in `latest.json`, if that is a copy of it. */
  set manifest(manifest: Manifest) {
    const [own, latest] = [join(this.folder, this.manifestName), join(this.folder, '../latest.json')];
    const files = readFileSync(latest).equals(readFileSync(own)) ? [own, latest] : [own];
    for (const file of files) writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
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
    const { format, values } = this.manifest;
    const [kind = format] = format.split('.') as [typeof format];
    const lines = (await Array.fromAsync(linesOfText(chunksOf(content), { format: kind, values }, []))).flat();
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
  alter: (file: Written, place: Place) => unknown,
  said: string,
];

/** Those that a file and its manifest alone show. */
const shownByFile: readonly Alteration[] = [
  [
    'a byte',
    'csv',
    ({ file }) => writeFileSync(file, readFileSync(file, 'utf8').replace('dev-1,', 'dev-x,')),
    'sha256 ',
  ],
  ['a file cut short', 'csv', ({ file }) => writeFileSync(file, readFileSync(file).subarray(0, 1_000)), 'bytes 1000, '],
  ['a byte in gzip', 'ndjson.gz', ({ file }) => writeFileSync(file, flip(readFileSync(file), 40)), 'it must be gzip'],
  ['gzip cut short', 'csv.gz', ({ file }) => writeFileSync(file, readFileSync(file).subarray(0, 200)), 'bytes 200, '],
  ['a byte in Parquet', 'parquet', ({ file }) => writeFileSync(file, flip(readFileSync(file), 200)), 'sha256 '],
  ['no Parquet', 'parquet', ({ file }) => writeFileSync(file, 'else'), 'it must be a file of Parquet'],
  ['a file gone', 'csv', ({ file }) => rmSync(file), 'there is no such file'],
  ['the rows', 'csv', (file) => file.claim({ rows: 24 }), 'rows 25, manifest 24'],
  ['the rows of Parquet', 'parquet', (file) => file.claim({ rows: 26 }), 'rows 25, manifest 26'],
  ['the rows of lines', 'ndjson.gz', (file) => file.claim({ rows: 26 }), 'rows 25, manifest 26'],
  ['the size', 'csv', (file) => file.claim({ bytes: 7 }), ', manifest 7'],
  ['the digest', 'csv', (file) => file.claim({ sha256: '0'.repeat(64) }), `manifest ${'0'.repeat(64)}`],
  [
    'the digest of the report',
    'csv.gz',
    (file) => file.claim({}, { sha256: '0'.repeat(64) }),
    `, manifest ${'0'.repeat(64)}`,
  ],
  [
    'the digest of the report in Parquet',
    'parquet',
    (file) => file.claim({}, { sha256: '0'.repeat(64) }),
    `, manifest ${'0'.repeat(64)}`,
  ],
  [
    'the instant',
    'csv',
    (file) => file.claim({ scheduled_for: '2026-11-24T03:00:01Z' }),
    "scheduled_for '2026-11-24T03:00:01Z', folder 2026-11-23T030001Z",
  ],
  [
    'the end',
    'csv',
    (file) => file.claim({ completed_at: '2999-11-24T03:00:01Z' }),
    "completed_at '2999-11-24T03:00:01Z', which is yet to come",
  ],
  ['the format', 'csv', (file) => file.claim({ format: 'ndjson' }), "format 'ndjson', file 'subscriptions-"],
  ['that values are for spreadsheets', 'csv', (file) => file.claim({ values: 'spreadsheet' }), 'report.sha256 '],
  [
    'that values of NDJSON are for spreadsheets',
    'ndjson',
    (file) => file.claim({ values: 'spreadsheet' }),
    "values 'spreadsheet', format 'ndjson'",
  ],
  ...['csv', 'ndjson.gz', 'parquet'].map(
    (format): Alteration => [
      `the type of a column of ${format}`,
      format,
      (file) => file.claim({ columns: file.manifest.columns.with(0, { name: 'id', type: 'BIGINT' }) }),
      ', manifest id BIGINT, status VARCHAR',
    ],
  ),
  [
    'the columns',
    'csv',
    (file) => file.claim({ columns: file.manifest.columns.slice(1) }),
    'columns id VARCHAR, status VARCHAR, activation_date ',
  ],
  [
    'the files',
    'csv',
    (file, place) => file.claim({ files: [...new Written(place, 0).manifest.files, ...file.manifest.files] }),
    'files 2026-11-23T030000Z/subscriptions-',
  ],
  ['the version', 'csv', (file) => file.claim({ schema_version: 2 as 1 }), 'must be a manifest that sync wrote'],
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
  [
    'an older file',
    'csv',
    ({ file }, place) => writeFileSync(file, `${readFileSync(new Written(place, 0).file)}\n`),
    'sha256 ',
  ],
];

const flip = (bytes: Buffer, at: number): Buffer => {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};

const difference = "s000001: device_id 'other', report 'dev-1'";
const changeDevice = (text: string) => text.replace(/\bdev-1\b/, 'other');

/** Those that agree with their manifest, which only the report shows. */
const shownByReport: readonly Alteration[] = [
  ...['csv', 'csv.gz', 'ndjson', 'ndjson.gz'].map(
    (format): Alteration => [`a value in ${format}`, format, (file) => file.forge(changeDevice), difference],
  ),
  [
    'a row gone',
    'csv',
    async (file) => {
      await file.forge((text) => text.replace(/^s000001,[^\n]*\n/m, ''));
      file.claim({ rows: 24 });
    },
    's000001: in the report, not in the copy',
  ],
  [
    'a row more',
    'ndjson',
    async (file) => {
      await file.forge((text) => text + text.split('\n')[0]?.replace('s000000', 'more')?.concat('\n'));
      file.claim({ rows: 26 });
    },
    'more: in the copy, not in the report',
  ],
  [
    'a row twice',
    'csv',
    async (file) => {
      await file.forge((text) => text.replace(/^s000001,[^\n]*\n/m, '$&$&'));
      file.claim({ rows: 26 });
    },
    's000001: twice in the copy',
  ],
  ['two rows swapped', 'csv', (file) => file.forge(swapLines), 'not at its place in the order of the report'],
  ['two rows swapped in lines', 'ndjson', (file) => file.forge(swapLines), 'not at its place in the order'],
  [
    'a type',
    'ndjson',
    (file) => file.forge((text) => text.replace('"period":30', '"period":"30"')),
    "s000000: product.period '30', report 30",
  ],
  [
    'half a second',
    'csv',
    (file) => file.forge((text) => text.replace('2023-11-14T22:13:21Z', '2023-11-14T22:13:21.500Z')),
    "s000001: created_date '2023-11-14T22:13:21.500Z', report '2023-11-14T22:13:21Z'",
  ],
  [
    'a value for a spreadsheet',
    'csv',
    (file) => file.forge((text) => text.replace(/^-000024,/m, "'-000024,")),
    "'-000024: in the copy, not in the report",
  ],
  [
    'a member more',
    'ndjson',
    (file) => file.forge((text) => text.replace('{"id":"s000001"', '{"note":"","id":"s000001"')),
    's000001: ',
  ],
  ['a column name', 'csv', (file) => file.forge((text) => text.replace('device_id', 'imei')), 'columns id,status'],
  ['no record', 'ndjson', (file) => file.forge((text) => text.replace(/^.*s000001.*$/m, 'else')), "no record 'else'"],
  ['the last line feed', 'csv', (file) => file.forge((text) => text.slice(0, -1)), 'it must end with a line feed'],
  ['another end of lines', 'csv', (file) => file.forge((text) => text.replaceAll('\r', '')), "no record 's000001,"],
  ['the revision', 'csv', (file) => file.claim({}, { revision: 1 }), '-000024: in the copy, not in the report'],
  [
    'a revision that is not there',
    'parquet',
    (file) => file.claim({}, { revision: 99 }),
    'Cannot compare with the report at revision 99',
  ],
  [
    'the filters',
    'csv',
    (file) => file.claim({}, { applied_filters: 'sort=createdDate&status=ACTIVE' }),
    "report.applied_filters 'sort=createdDate&status=ACTIVE', report 'date-field=created&sort=createdDate'",
  ],
  ['the client', 'csv', (file) => file.claim({}, { client_id: 'other' }), "current value is files for 'other'"],
  ['the service', 'csv', (file) => file.claim({}, { service: 'https://b/c' }), 'of https://b/c'],
];

/** Two files of each format, verified; each alteration has a copy of them. */
const templates = new Map<string, Place>();

async function templateOf(format: string): Promise<Place> {
  const known = templates.get(format);
  if (known !== undefined) return known;
  const place = places.dir();
  for (const second of [0, 1]) expect(await write(place, second, format)).toMatchObject({ code: 0, stderr: '' });
  expect(await run(place, 'verify')).toMatchObject({ code: 0, stderr: '' });
  templates.set(format, place);
  return place;
}

describe.each(Object.entries(places).filter(([name]) => name === 'dir' || hasReceivers()))(
  'verify of files in %s',
  (name, placeOf) => {
    // only in a folder no step is a process of rclone
    const few = (all: readonly Alteration[]) => all.filter((_, at) => name === 'dir' || isWhole || at % 9 === 0);

    async function alter([, format, change]: Alteration): Promise<Place> {
      const [place, template] = [placeOf(), await templateOf(format)];
      cpSync(template.folder, place.folder, { recursive: true });
      await change(new Written(place, 1), place);
      return place;
    }

    test.each(few([...shownByFile, ...shownByReport]))('finds and names %s (%s)', async (...alteration) => {
      const place = await alter(alteration);
      const { code, stdout, stderr } = await run(place, 'verify');
      expect([code, stdout]).toEqual([expect.any(Number), '']);
      expect(stderr).toContain(alteration[3]);
      expect(code).not.toBe(0);
    });

    test.each(few(shownByFile))('finds and names %s (%s) without a service', async (...alteration) => {
      const place = await alter(alteration);
      const alone = ['sync', 'verify', '--to', place.to];
      const { code, stdout, stderr } = await runHere(alone, { ...place.environment, XDG_CONFIG_HOME: folder });
      expect([code === 0, stdout]).toEqual([false, '']);
      expect(stderr).toContain(alteration[3]);
    });

    test('without a service says that the file was not compared with the report', async () => {
      const place = placeOf();
      await write(place, 1, 'csv');
      const alone = ['sync', 'verify', '--to', place.to];
      const environment = { ...place.environment, XDG_CONFIG_HOME: folder };
      expect(await runHere(alone, environment)).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(
          /^The newest file, of 2026-11-23T03:00:01Z, equals its manifest, of revision 2: 25 rows, .*; it was not compared with the report: no service is given\n$/,
        ),
      });
      const { stdout } = await runHere([...alone, '--json'], environment);
      expect(JSON.parse(stdout)).toMatchObject({ rows: 25, compared_with: 'manifest' });
    });

    test('names the newest file, and the one whose manifest is gone, of which it cannot tell without latest.json', async () => {
      const place = placeOf();
      for (const second of [0, 1]) await write(place, second, 'ndjson');
      const newest = new Written(place, 1);
      expect((await run(place, 'verify')).stdout).toMatch(
        /^The newest file, of 2026-11-23T03:00:01Z, equals its manifest and the report at revision 2: 25 rows, /,
      );
      rmSync(join(newest.folder, newest.manifestName));
      const gone = await run(place, 'verify');
      expect([gone.code, gone.stdout]).toEqual([1, '']);
      expect(gone.stderr).toContain('current value is that of 2026-11-23T03:00:01Z, which no manifest equals');
      rmSync(join(place.folder, 'latest.json'));
      const { code, stdout, stderr } = await run(place, 'verify');
      expect([code, stdout]).toEqual([75, '']);
      expect(stderr).toContain(
        'current value is 2026-11-23T030001Z without one; the newest file is of 2026-11-23T03:00:00Z',
      );
      expect(await write(place, 2, 'ndjson')).toMatchObject({ code: 0 });
      expect(await run(place, 'verify')).toMatchObject({ code: 0, stderr: '' });
    });

    test('--all reads every file, and names those that are wrong', async () => {
      const place = placeOf();
      for (const [second, format] of ['csv', 'parquet', 'ndjson.gz'].entries()) await write(place, second, format);
      const { code, stdout } = await run(place, 'verify', '--all');
      expect([code, stdout.match(/ equals its manifest and the report at revision 2: 25 rows/g)?.length]).toEqual([
        0, 3,
      ]);
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
      const place = placeOf();
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
  },
);

test('cannot tell of a file whose revision the service no longer has: exit code 75, and --all goes on', async () => {
  const changing = await createChangingReport(service, 'erased', 1);
  await changing.load(rows.slice(0, 3));
  const place = places.dir();
  const runIn = (...args: string[]) =>
    runHere(['sync', ...args, '--to', place.to], environmentOf(service, changing.credentials));
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
