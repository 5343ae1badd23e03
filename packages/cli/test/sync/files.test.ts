import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { rewriteParquet } from '../../../../test/support/checker-packages.ts';
import { parquetRowOf } from '../../../../test/support/parquet-row.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { type Fault, startFaultyProxy } from '../../../client/test/faulty-proxy.ts';
import { snapshotFormats } from '../../sync/files/file-format.ts';
import { FolderFiles } from '../../sync/files/folder-files.ts';
import { runSnapshot } from '../../sync/files/run-snapshot.ts';
import { type ChangingReport, createChangingReport, environmentOf, environmentThrough } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';

const { folder, service } = await startBesideFolder('files');
let report: ChangingReport;
let count = 0;
beforeAll(async () => {
  report = await createChangingReport(service, 'files', 1);
  await report.load(rows);
});
beforeEach(() => {
  count += 1;
  mkdirSync(join(folder, String(count)));
});

const hostile = [
  { id: '-ab', deviceId: '=1+1' },
  { id: '-a_', deviceId: "'-x" },
];
const rows = [
  ...hostile.map((row) => subscriptionRow({ ...row, createdDate: 1_700_000_001 })),
  ...Array.from({ length: 23 }, (_, n) => subscriptionRow({ id: `id_${n}`, createdDate: 1_700_000_000 - n })),
];
const run = (...args: string[]) => runHere(['sync', ...args], environmentOf(service, report.credentials));
const here = () => join(folder, String(count));
const at = (second: number) => ['--to', `dir:${here()}`, '--scheduled-for', `2026-11-23T03:00:0${second}Z`];

const readManifest = (second: number) => {
  const place = join(here(), `2026-11-23T03000${second}Z`);
  const names = readdirSync(place).sort();
  const name = join(place, names[0] ?? '');
  const manifest = JSON.parse(readFileSync(name, 'utf8'));
  return { manifest, name, file: join(place, manifest.file), names };
};

test.each(snapshotFormats)('a run writes a file of format %s, and its manifest after it', async (format) => {
  const { code, stdout, stderr } = await run(...at(0), '--format', format);
  const { manifest, file, names } = readManifest(0);
  expect([code, stdout, stderr]).toEqual([0, `copy 25 rows = report 25 rows at revision 1 in ${file}\n`, '']);
  expect(names).toEqual([`manifest-${manifest.file.slice(14, 30)}.json`, manifest.file]);
  expect(readdirSync(here()).sort()).toEqual(['2026-11-23T030000Z']);
  const bytes = readFileSync(file);
  const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  const content = format.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  expect(manifest).toEqual({
    schema_version: 1,
    file: expect.stringMatching(new RegExp(`^subscriptions-[0-9a-f]{16}\\.${format}$`)),
    files: [`2026-11-23T030000Z/${manifest.file}`],
    format,
    columns: expect.arrayContaining([
      { name: format.startsWith('ndjson') ? 'createdDate' : 'created_date', type: 'TIMESTAMP WITH TIME ZONE' },
      { name: 'auto_renew', type: format.startsWith('ndjson') ? 'VARCHAR' : 'BOOLEAN' },
    ]),
    rows: 25,
    bytes: bytes.length,
    sha256: sha256(bytes),
    report: {
      service: service.baseUrl,
      client_id: report.credentials.client_id,
      revision: 1,
      sha256: format === 'parquet' ? sha256(content) : await report.digest(),
      applied_filters: expect.stringContaining('sort=createdDate'),
    },
    scheduled_for: '2026-11-23T03:00:00Z',
    completed_at: expect.stringMatching(/Z$/),
  });
  if (format.startsWith('ndjson')) expect(sha256(content)).toBe(manifest.report.sha256);
});

test('a file of Parquet has the records of NDJSON, as hyparquet and the Arrow of Rust read it', async () => {
  await run(...at(0), '--format', 'ndjson');
  await run(...at(1), '--format', 'parquet');
  const lines = readFileSync(readManifest(0).file, 'utf8').trim().split('\n');
  const bytes = new Uint8Array(readFileSync(readManifest(1).file));
  const rowsOf = (file: Uint8Array) => parquetReadObjects({ file: new Uint8Array(file).buffer });
  const found = await rowsOf(bytes);
  expect(found).toEqual(lines.map((line) => parquetRowOf(JSON.parse(line))));
  if (rewriteParquet !== undefined) expect(await rowsOf(rewriteParquet(bytes))).toEqual(found);
});

test('a run for an instant that is complete writes nothing', async () => {
  await run(...at(0));
  const before = readManifest(0);
  // nor does it ask the service, which would refuse this secret
  const environment = { ...environmentOf(service, report.credentials), SUBREPORT_CLIENT_SECRET: 'wrong' };
  const again = ['--to', `dir:${here()}`, '--scheduled-for', '2026-11-23 04:00:00.5 +0100'];
  const { code, stdout } = await runHere(['sync', ...again], environment);
  expect([code, stdout]).toEqual([
    0,
    `The run for 2026-11-23T03:00:00Z was complete before: nothing was written\ncopy 25 rows = report 25 rows at revision 1 in ${before.file}\n`,
  ]);
  expect(readManifest(0)).toEqual(before);
});

test('a file in another format for an instant, or of another client, is wrong use, and nothing is written', async () => {
  await run(...at(0));
  const before = readManifest(0);
  const format = await run(...at(0), '--format', 'parquet');
  expect([format.code, format.stdout]).toEqual([2, '']);
  expect(format.stderr).toMatch(
    /^Cannot write parquet for 2026.*: a place must have one format.*: current value is csv\n$/,
  );
  const other = await service.createClient(report.tenant);
  const { code, stderr } = await runHere(['sync', ...at(1)], environmentOf(service, other));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Cannot use .*: it must have files for the same client/)]);
  expect(readManifest(0)).toEqual(before);
  expect(readdirSync(here()).sort()).toEqual(['2026-11-23T030000Z']);
});

const manifestName = '2026-11-23T030000Z/manifest-0123456789abcdef.json';

test.each(['{"rows": 25}', 'mine', '{\n  "schema_version": 1,\n  "rows": 25\n}\n'])(
  'a manifest %j that sync did not write is wrong use, and stays',
  async (text) => {
    mkdirSync(join(here(), '2026-11-23T030000Z'));
    writeFileSync(join(here(), manifestName), text);
    const { code, stdout, stderr } = await run(...at(1));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      `Cannot use ${here()}: ${manifestName} must be a manifest that sync wrote; remove its folder`,
    );
    expect(readFileSync(join(here(), manifestName), 'utf8')).toBe(text);
  },
);

test.each([
  'manifest.json',
  'manifest-0.json',
  'manifest-0123456789abcdef.json.part',
  'Manifest-0123456789abcdef.json',
])('a file with the name %s counts for nothing', async (name) => {
  await run(...at(0));
  const before = readManifest(0);
  writeFileSync(join(here(), '2026-11-23T030000Z', name), 'mine');
  const { code, stdout } = await run('verify', ...at(0).slice(0, 2));
  expect([code, stdout]).toEqual([0, expect.stringContaining(before.file)]);
});

test('of two manifests for an instant, the one whose name sorts last counts, whichever was written first', async () => {
  await run(...at(0));
  await run(...at(1));
  const [one, other] = [readManifest(0), readManifest(1)];
  const place = join(here(), '2026-11-23T030000Z');
  const files = [`2026-11-23T030000Z/${other.manifest.file}`];
  const moved = { ...other.manifest, files, scheduled_for: '2026-11-23T03:00:00Z' };
  renameSync(other.file, join(place, other.manifest.file));
  writeFileSync(
    join(place, `manifest-${other.manifest.file.slice(14, 30)}.json`),
    `${JSON.stringify(moved, null, 2)}\n`,
  );
  rmSync(join(here(), '2026-11-23T030001Z'), { recursive: true });
  const last = [one.manifest.file, other.manifest.file].sort().at(-1);
  for (const args of [at(0), ['verify', ...at(0).slice(0, 2)]])
    expect(await run(...args)).toMatchObject({ code: 0, stdout: expect.stringContaining(String(last)) });
});

test('each beginning of a manifest, as a killed run leaves, is none', async () => {
  await run(...at(1));
  const text = readFileSync(readManifest(1).name, 'utf8');
  rmSync(join(here(), '2026-11-23T030001Z'), { recursive: true });
  mkdirSync(join(here(), '2026-11-23T030000Z'));
  for (const bytes of [0, 1, 20, 23, 24, 60, text.length - 2]) {
    writeFileSync(join(here(), manifestName), text.slice(0, bytes));
    expect((await run('status', ...at(0).slice(0, 2))).stderr).toMatch(/^Cannot show the status: there must be a copy/);
  }
  expect(await run(...at(0))).toMatchObject({ code: 0, stdout: expect.stringMatching(/^copy 25 rows/) });
});

/** Runs a sync whose requests of the API pass a proxy. */
async function throughProxy(choose: Parameters<typeof startFaultyProxy>[1], args: readonly string[]) {
  const proxy = await startFaultyProxy(service.url, choose);
  const environment = environmentThrough(proxy.url, service, report.credentials, folder);
  return runHere(['sync', ...args], environment).finally(() => proxy.close());
}

test('a run of an instant that is yet to come writes nothing', async () => {
  const given = await run('--to', `dir:${here()}`, '--scheduled-for', '2126-11-23T03:00:00Z');
  expect([given.code, given.stderr]).toEqual([
    2,
    "Cannot use --scheduled-for: it must be an instant that is not yet to come: current value is '2126-11-23T03:00:00Z'\n",
  ]);
  expect(readdirSync(here())).toEqual([]);
});

test('a report whose number of records a proxy has removed leaves no manifest', async () => {
  const hide: Fault = {
    edit(body, headers) {
      delete headers['x-total-count'];
      return body;
    },
  };
  const { code, stdout, stderr } = await throughProxy(
    ({ path }) => (path.includes('all=true') ? hide : undefined),
    at(0),
  );
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringMatching(
      /^Cannot sync with this service: its report must have the header X-Total-Count with a number: /,
    ),
  ]);
  expect(readdirSync(here(), { recursive: true }).filter((name) => String(name).includes('manifest'))).toEqual([]);
});

test('a sync of changes whose revision a proxy removes is an error', async () => {
  const hide: Fault = {
    edit(body, headers) {
      delete headers['x-revision'];
      return body;
    },
  };
  writeFileSync(join(here(), 'secret'), `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`);
  const webhook = ['--to', 'webhook:http://127.0.0.1:9/', '--state', join(here(), 'w.db')];
  const syncs = [
    ['--to', 'stdout:ndjson', '--state', join(here(), 's.db')],
    ['--to', `sqlite:${join(here(), 'copy.db')}`],
    [...webhook, '--secret-file', join(here(), 'secret')],
  ];
  let isHidden = false;
  const proxy = await startFaultyProxy(service.url, () => (isHidden ? hide : undefined));
  const environment = environmentThrough(proxy.url, service, report.credentials, folder);
  for (isHidden of [false, true])
    for (const args of syncs) {
      const { code, stderr } = await runHere(['sync', ...args], environment);
      const told = 'Cannot sync with this service: its report must have the header X-Revision with a number: ';
      expect([args[1], code, stderr.startsWith(told)]).toEqual([args[1], isHidden ? 1 : 0, isHidden]);
    }
  await proxy.close();
});

test('a run fails beside another run for its instant that writes another format', async () => {
  const { client } = report.source;
  const beside = async (...call: Parameters<typeof client.export>) => {
    expect(await run(...at(0), '--format', 'csv')).toMatchObject({ code: 0 });
    return client.export(...call);
  };
  const own = { format: 'ndjson', scheduledFor: new Date('2026-11-23T03:00:00Z') } as const;
  const source = { ...report.source, client: { ...client, export: beside } };
  const snapshot = runSnapshot(source, await FolderFiles.open(here()), own);
  await expect(snapshot).rejects.toThrow('a place must have one format for an instant');
  expect(readManifest(0).names).toHaveLength(2);
});

/** Arguments, and what the sentence has. */
const mistakes: readonly [string[], RegExp][] = [
  [['--to', 'dir:/none/at/all'], /^Cannot use dir:\/none\/at\/all: it must be a folder that exists/],
  [
    ['--to', 'ftp://a/b'],
    /^Cannot use --to: it must be sqlite:FILE, .*rclone:REMOTE:PATH.*: current value is 'ftp:\/\/…'/,
  ],
  [
    ['--to', 'rclone:/var/exports'],
    /^Cannot use --to: it must be rclone:REMOTE:PATH .*: current value is 'rclone:\/var/,
  ],
  [['--to', 'rclone::sftp,pass=secret@'], /^Cannot use --to: it must be .*: current value is 'rclone::sftp,…'$/m],
  [
    ['--to', 'dir:.', '--scheduled-for', 'today'],
    /^Cannot use --scheduled-for: it must be an ISO 8601 date-time .*'today'/,
  ],
  [['--to', 'sqlite:x.db', '--format', 'csv'], /^Cannot use --format: --to must be dir:PATH or rclone:/],
  [['--to', 'dir:.', '--format', 'xlsx'], /argument 'xlsx' is invalid. Allowed choices are csv, csv.gz, /],
];

test.each(mistakes)('%s is wrong use, with a sentence', async (args, sentence) => {
  const environment = { ...environmentOf(service, report.credentials), HOME: here() };
  const { code, stdout, stderr } = await runHere(['sync', ...args], environment);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(sentence);
  // a wrong use of the options is followed by where they are described
  expect(stderr.replace(/\(Options: .*\)\n$/, '').trim()).not.toContain('\n');
  expect(stderr).not.toContain('secret@');
});
