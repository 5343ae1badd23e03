import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';

const { folder, service } = await startBesideFolder('status');
let here: string;
let report: ChangingReport;
let count = 0;
beforeEach(async () => {
  count += 1;
  here = join(folder, String(count));
  mkdirSync(join(here, 'files'), { recursive: true });
  writeFileSync(join(here, 'secret'), `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`);
  report = await createChangingReport(service, `tenant-${count}`, count);
  await report.load([subscriptionRow({ id: 'a' }), subscriptionRow({ id: 'b' })]);
});

const copies = {
  'sqlite:': () => ['--to', `sqlite:${join(here, 'copy.db')}`],
  'dir:': () => ['--to', `dir:${join(here, 'files')}`],
  'webhook:': () => [
    ...['--to', 'webhook:http://127.0.0.1:9/', '--state', join(here, 'hook.db')],
    ...['--secret-file', join(here, 'secret')],
  ],
} as const;
type Kind = keyof typeof copies;
const kinds = Object.keys(copies) as Kind[];

const run = (kind: Kind, command: 'run' | 'status', more: readonly string[] = [], { credentials } = report) =>
  runHere(['sync', command, ...copies[kind](), ...more], environmentOf(service, credentials));

/** Shows the status as JSON and in a sentence. */
async function statusOf(kind: Kind, reader = report) {
  const { code, stdout, stderr } = await run(kind, 'status', ['--json'], reader);
  const sentence = (await run(kind, 'status', [], reader)).stdout;
  const json = stdout === '' ? {} : JSON.parse(stdout);
  return { code, json, sentence, stderr };
}

/** Alters the newest manifest. */
function alterManifest(alter: (manifest: { scheduled_for: string; report: { revision: number } }) => object): void {
  const files = join(here, 'files');
  const [run = ''] = readdirSync(files).filter((name) => name.endsWith('Z'));
  const [name = ''] = readdirSync(join(files, run)).filter((each) => each.startsWith('manifest-'));
  const manifest = JSON.parse(readFileSync(join(files, run, name), 'utf8'));
  writeFileSync(join(files, run, name), `${JSON.stringify({ ...manifest, ...alter(manifest) }, null, 2)}\n`);
}

describe.each(kinds)('the status of a copy in %s', (kind) => {
  test('is in step until the report changes', async () => {
    await run(kind, 'run');
    expect(await statusOf(kind)).toMatchObject({
      code: 0,
      json: { revision: 1, report_revision: 1, in_step: true },
      sentence: expect.stringContaining(': in step with the report\n'),
    });
    await report.erase(['a']);
    expect(await statusOf(kind)).toMatchObject({
      code: 0,
      json: { revision: 1, report_revision: 2, in_step: false },
      sentence: expect.stringContaining(': the report is at revision 2\n'),
    });
  });

  test('is refused to a client of another tenant', async () => {
    await run(kind, 'run');
    const other = await createChangingReport(service, `other-${count}`, 1);
    await other.load([subscriptionRow({ id: 'a' })]);
    const { code, json, sentence, stderr } = await statusOf(kind, other);
    expect([code, json, sentence]).toEqual([2, {}, '']);
    expect(stderr).toContain(`for '${report.credentials.client_id}' of ${service.baseUrl}`);
  });

  test('is not in step if its change token is no longer valid', async () => {
    await run(kind, 'run');
    await report.erase(['a']);
    await report.loseTombstones();
    const { code, json, sentence } = await statusOf(kind);
    const what = kind === 'dir:' ? 'the report is at' : 'its change token is no longer valid, so the next sync reads';
    expect([code, json.in_step, sentence]).toEqual([0, false, expect.stringContaining(what)]);
  });
});

test('a file of a later revision than that of the report, as after a restore, is not in step', async () => {
  await run('dir:', 'run');
  alterManifest(({ report: of }) => ({ report: { ...of, revision: 7 } }));
  const { json, sentence } = await statusOf('dir:');
  expect(json).toMatchObject({ revision: 7, report_revision: 1, in_step: false });
  expect(sentence).toMatch(/^2 rows at revision 7, synced \d+ s ago: the report is at revision 1\n$/);
});

describe('a clock that was ahead', () => {
  const later = '2099-01-01T00:00:00.000Z';

  test.each([
    ['sqlite:', () => new DatabaseSync(join(here, 'copy.db')).exec(`update subreport_sync set synced_at = '${later}'`)],
    ['dir:', () => alterManifest(() => ({ completed_at: later }))],
  ] as const)('does not make a copy in %s young', async (kind, alter) => {
    await run(kind, 'run');
    alter();
    const { json, sentence } = await statusOf(kind);
    expect(json).toMatchObject({ synced_at: later, age_seconds: null });
    expect(sentence).toContain(`synced at ${later}, which is yet to come: `);
  });
});
