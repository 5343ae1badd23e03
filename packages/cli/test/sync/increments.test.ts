import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { queryDuckDb } from '../../../../test/support/checker-packages.ts';
import { blocksOf } from '../../../../test/support/command-folder.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { parseMetrics } from '../../sync/copy-metrics.ts';
import { snapshotFormats } from '../../sync/file-format.ts';
import { type Manifest, manifestText } from '../../sync/manifest.ts';
import { type ChangingReport, createChangingReport, environmentAway, environmentOf } from './changing-report.ts';
import { runIncrementHistory } from './increment-history.ts';

let folder: string;
let service: TestService;
let report: ChangingReport;
let count = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-increments-'));
  service = await startService(await engines[0].openTestStore());
});
beforeEach(async () => {
  count += 1;
  mkdirSync(here());
  report = await createChangingReport(service, `increments-${count}`, count);
  await report.load(rows(0, 5));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const rows = (from: number, to: number, more: object = {}) =>
  Array.from({ length: to - from }, (_, n) => subscriptionRow({ id: `-id_${from + n}`, ...more }));
const here = () => join(folder, String(count));
const run = (...args: string[]) => runHere(['sync', ...args], environmentOf(service, report.credentials));
const to = () => ['--to', `dir:${here()}`];
const write = (second: number, ...args: string[]) =>
  run(...to(), '--changes', '--scheduled-for', `2026-11-23T03:00:0${second}Z`, ...args);
const latest = (): Manifest => JSON.parse(readFileSync(join(here(), 'latest.json'), 'utf8'));
const folders = () => readdirSync(here()).filter((name) => name !== 'latest.json');

test.each(snapshotFormats)(
  'runs with --changes write the whole report, then increments, of format %s',
  async (format) => {
    const first = await write(0, '--format', format);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^copy 5 rows = report 5 rows at revision 1 in .*; the whole report, as there is no/);
    await report.load(rows(4, 7, { deviceId: '=1' }));
    await report.erase(['-id_0']);
    const second = await write(1, '--format', format);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(
      /^copy 6 rows = report 6 rows at revision 3 in .*; increment 1, with 3 records and 1 re/,
    );
    expect(latest()).toMatchObject({ rows: 4, removals: 1, report: { revision: 3, rows: 6 } });
    expect(await run('verify', ...to())).toMatchObject({ code: 0, stderr: '' });
    expect(await write(2, '--format', format)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No changes since revision 3: nothing was written\n/),
    });
    expect(folders()).toHaveLength(2);
  },
);

test('a quiet report makes no copy old: its age is that of the last comparison, also if the next one fails', async () => {
  const file = join(folder, `exports-${count}.prom`);
  const status = (environment: Record<string, string> = environmentOf(service, report.credentials)) =>
    runHere(['sync', 'status', ...to(), '--metrics', file, '--json'], environment);
  const away = environmentAway(service, report.credentials);
  /** The samples of the file, and whether the alert of the guide would fire. */
  const measured = () => {
    const samples = parseMetrics(readFileSync(file, 'utf8'));
    const { last_success_timestamp_seconds: last = 0, copy_read } = samples;
    return { ...samples, isOld: Date.now() / 1000 - last > 7_200 || copy_read === 0 };
  };
  const makeOlder = (seconds: number) => {
    for (const name of [...folders(), '.'])
      for (const each of readdirSync(join(here(), name)).filter((one) => /^(manifest-.*|latest)\.json$/.test(one))) {
        const path = join(here(), name, each);
        const manifest = JSON.parse(readFileSync(path, 'utf8'));
        const completed_at = new Date(Date.parse(manifest.completed_at) - seconds * 1_000).toISOString();
        writeFileSync(path, `${JSON.stringify({ ...manifest, completed_at }, null, 2)}\n`);
      }
  };
  await write(0);
  makeOlder(90_000);
  await write(1);
  expect(JSON.parse((await status()).stdout)).toMatchObject({ revision: 1, age_seconds: 0 });
  expect(measured()).toMatchObject({ copy_read: 1, revision: 1, report_revision: 1, isOld: false });
  // the service is away: what the comparison before has found still holds
  expect((await status(away)).code).toBe(75);
  expect(measured()).toMatchObject({ copy_read: 1, revision: 1, isOld: false });
  expect(measured()).not.toHaveProperty('report_revision');
  // no run follows a change, and the last comparison was two hours ago
  await report.load(rows(5, 7));
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/(_seconds\{.*\}) (\d+)/, (_, name, at) => `${name} ${at - 7_300}`),
  );
  expect(JSON.parse((await status()).stdout)).toMatchObject({
    revision: 1,
    report_revision: 2,
    age_seconds: expect.closeTo(90_000, -4),
  });
  expect(measured()).toMatchObject({ revision: 1, report_revision: 2, isOld: true });
  await write(2);
  await status();
  expect(measured()).toMatchObject({ revision: 2, report_revision: 2, isOld: false });
  makeOlder(90_000);
  rmSync(file);
  await status(away);
  expect(measured()).toMatchObject({ revision: 2, isOld: true });
});

const histories = Number(process.env.INCREMENT_HISTORIES ?? 3);

/** The statements of the guide, for a folder. */
const statements = (place: string): readonly string[] => {
  const guide = readFileSync(new URL('../../../../docs/readers/nightly-parquet.md', import.meta.url), 'utf8');
  const [sql = ''] = blocksOf(guide, 'sql');
  return sql
    .replaceAll('/var/exports', place)
    .split(/;\n/)
    .filter((each) => each !== '');
};

test.runIf(queryDuckDb !== undefined)(
  'in random histories with kills, whole reports and increments together are the report, as DuckDB reads them',
  async () => {
    const total = { increments: 0, whole: 0, unchanged: 0, cut: 0, removed: 0 };
    for (let seed = 1; seed <= histories; seed += 1) {
      const place = join(here(), String(seed));
      mkdirSync(place);
      const changing = await createChangingReport(service, `increments-${count}-${seed}`, seed);
      const tally = await runIncrementHistory(changing, place, seed, 25, statements);
      for (const name of ['increments', 'whole', 'unchanged', 'cut', 'removed'] as const) total[name] += tally[name];
    }
    process.stdout.write(`increments: ${JSON.stringify(total)}\n`);
    expect(Math.min(...Object.values(total))).toBeGreaterThan(0);
  },
);

test('an increment has only what changed since the one before', async () => {
  await write(0);
  for (const second of [1, 2]) {
    await report.load(rows(4 + second, 5 + second));
    await write(second);
    expect(latest()).toMatchObject({ rows: 1, removals: 0, report: { rows: 5 + second } });
  }
});

const because = (found: { readonly stdout: string }): string =>
  /; the whole report, as (.*?)(; .*)?$/m.exec(found.stdout)?.[1] ?? found.stdout;

test('a run writes the whole report, and says why, where no increment can follow', async () => {
  await run(...to(), '--scheduled-for', '2026-11-23T02:00:00Z');
  expect(because(await write(0))).toBe('the newest file was written without --changes');
  await report.load(rows(5, 6));
  expect(because(await write(1, '--reload'))).toBe('--reload was given');
  await report.load(rows(6, 7));
  expect(because(await write(2, '--format', 'ndjson'))).toBe('the newest file has csv');
  await report.erase(['-id_6']);
  await report.loseTombstones();
  expect(because(await write(3, '--format', 'ndjson'))).toBe('the change token is no longer valid');
  await report.load(rows(7, 8));
  expect((await write(4, '--format', 'ndjson')).stdout).toContain('; increment 1, with 1 record and 0 removals');
  await report.load(rows(8, 9));
  const cut = latest().files.at(-1) ?? '';
  writeFileSync(join(here(), cut), '{"id":');
  expect(because(await write(5, '--format', 'ndjson'))).toBe(`${cut} is not whole`);
  await report.load(rows(9, 10));
  expect((await write(6, '--format', 'ndjson')).stdout).toContain('; increment 1, with');
  await report.load(rows(10, 11));
  const [base = ''] = latest().files;
  rmSync(join(here(), base));
  expect(because(await write(7, '--format', 'ndjson'))).toBe(`${base} is gone`);
  expect(await run('verify', ...to())).toMatchObject({ code: 0, stderr: '' });
});

/** Changes what the newest manifest says. */
function claim(claims: Partial<Manifest>): void {
  const text = manifestText({ ...latest(), ...claims });
  const [folder = '', file = ''] = (latest().files.at(-1) ?? '').split('/');
  const manifest = file.replace(/^\w+-(\w+)\..*/, 'manifest-$1.json');
  for (const path of [join(folder, manifest), 'latest.json']) writeFileSync(join(here(), path), text);
}

test.each([3, 7])(
  'a run writes the whole report where the changes do not lead from %d records to it',
  async (found) => {
    await write(0);
    claim({ rows: found });
    await report.load(rows(5, 6));
    expect(because(await write(1))).toBe('the changes do not lead to the report at revision 2');
  },
);

test('500 increments follow a whole report, and then another one', async () => {
  await write(0);
  const [base = ''] = latest().files;
  claim({ files: Array(500).fill(base) });
  await report.load(rows(5, 6));
  expect((await write(1)).stdout).toContain('; increment 500, with');
  await report.load(rows(6, 7));
  expect(because(await write(2))).toBe('there are 500 increments');
});

test('an increment is for a later instant than the newest file, and a run for an instant that has one writes nothing', async () => {
  await write(1);
  await report.load(rows(5, 6));
  await write(3);
  expect(await write(3)).toMatchObject({ code: 0, stdout: expect.stringContaining('was complete before') });
  const refused = await write(2);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toMatch(
    /^Cannot write the changes for 2026-11-23T03:00:02Z to .*: current value is a file of 2026-11-23T03:00:03Z$/m,
  );
  expect(folders()).toHaveLength(2);
});

test('status shows the records of the report, not of the increment', async () => {
  await write(0);
  await report.load(rows(5, 6));
  await write(1);
  expect((await run('status', ...to())).stdout).toMatch(
    /^6 rows at revision 2, synced \d s ago: in step with the report\n$/,
  );
});

test('--keep removes no file that a kept increment needs, and all of a chain that none does', async () => {
  const day = async (n: number, ...args: string[]) => {
    await report.load([subscriptionRow({ id: `day_${n}` })]);
    return run(...to(), '--changes', '--scheduled-for', `2026-11-0${n}T03:00:00Z`, ...args);
  };
  const days = () =>
    folders()
      .map((name) => name.slice(8, 10))
      .sort();
  for (const n of [1, 2, 3]) await day(n);
  expect((await day(4, '--keep', '1d')).stdout).toContain('; 0 older runs were removed');
  await day(5, '--reload');
  expect((await day(6, '--keep', '2d')).stdout).toContain('; 0 older runs were removed');
  expect(days()).toEqual(['01', '02', '03', '04', '05', '06']);
  expect((await day(7, '--keep', '2d')).stdout).toContain('; 4 older runs were removed');
  expect(days()).toEqual(['05', '06', '07']);
  expect(await run('verify', ...to(), '--all')).toMatchObject({ code: 0, stderr: '' });
});

test('--reload without --changes is wrong use', async () => {
  const { code, stderr } = await run(...to(), '--reload');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Cannot use --reload: --changes must be given too/)]);
  expect(folders()).toEqual([]);
});

test('a place that cannot be read takes no increments, and check says so', async () => {
  const environment = environmentOf(service, report.credentials);
  const place = join(here(), 'gone');
  mkdirSync(place);
  mkdirSync(join(place, 'latest.json'));
  for (const command of ['run', 'check']) {
    const { code, stderr } = await runHere(['sync', command, '--to', `dir:${place}`, '--changes'], environment);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/Cannot use --changes: this user must be able to list/)]);
  }
});
