import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type Manifest, manifestText } from '../../sync/manifest.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';

let folder: string;
let service: TestService;
let report: ChangingReport;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-chains-'));
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'chains', 1);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const rows = (from: number, to: number, deviceId: string) =>
  Array.from({ length: to - from }, (_, n) => subscriptionRow({ id: `s${from + n}`, deviceId }));

const run = (place: string, ...args: string[]) =>
  runHere(['sync', ...args, '--to', `dir:${place}`], environmentOf(service, report.credentials));

/** A whole report and three increments of a format; each alteration has a copy of them. */
const templates = new Map<string, Promise<string>>();

async function writeTemplate(format: string): Promise<string> {
  const place = join(folder, format);
  mkdirSync(place);
  report = await createChangingReport(service, `chains of ${format}`, 1);
  const steps = [
    () => report.load(rows(0, 6, 'dev-0')),
    () => report.load(rows(5, 8, 'dev-1')),
    () => report.load(rows(7, 9, 'dev-2')),
    () => report.erase(['s0', 's8']),
  ];
  for (const [second, step] of steps.entries()) {
    await step();
    const scheduled = `2026-11-23T03:00:0${second}Z`;
    const written = await run(place, 'run', '--changes', '--format', format, '--scheduled-for', scheduled);
    expect(written).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await run(place, 'verify')).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      / equals its manifest and the report at revision 4, with the 3 files before it: 7 rows/,
    ),
  });
  return place;
}

/** One of the files, and its manifest. */
class Written {
  readonly folder: string;
  readonly place: string;
  readonly manifestPath: string;

  constructor(place: string, second: number) {
    this.place = place;
    this.folder = join(place, `2026-11-23T03000${second}Z`);
    this.manifestPath = join(this.folder, readdirSync(this.folder).find((name) => /^manifest/.test(name)) ?? '');
  }

  get manifest(): Manifest {
    return JSON.parse(readFileSync(this.manifestPath, 'utf8'));
  }

  get file(): string {
    return join(this.folder, this.manifest.file);
  }

  /** Changes what the manifest says, also in `latest.json` if that is a copy of it. */
  claim(claims: Partial<Manifest>, ofReport: Partial<Manifest['report']> = {}): void {
    const { manifest } = this;
    const latest = join(this.place, 'latest.json');
    const isLatest = readFileSync(latest, 'utf8') === manifestText(manifest);
    const text = manifestText({ ...manifest, ...claims, report: { ...manifest.report, ...ofReport } });
    for (const path of isLatest ? [this.manifestPath, latest] : [this.manifestPath]) writeFileSync(path, text);
  }

  /** Changes the content of the file, and the manifest so that it agrees with the file. */
  forge(text: string, claims: Partial<Manifest> = {}): void {
    writeFileSync(this.file, text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const isWhole = this.manifest.removals === undefined;
    this.claim({ bytes: Buffer.byteLength(text), sha256, ...claims }, isWhole ? { sha256 } : {});
  }
}

type Alteration = readonly [what: string, alter: (at: (second: number) => Written) => unknown, said: string];

const text = ({ file }: Written): string => readFileSync(file, 'utf8');

/** What the files alone show. */
const shownByFiles: readonly Alteration[] = [
  [
    'a removal that is lost',
    (at) => at(3).forge(text(at(3)).replace(/^\{"id":"s0".*\n/m, ''), { rows: 1, removals: 1 }),
    'records with all changes 8, manifest 7',
  ],
  [
    'two increments in the wrong order',
    (at) => {
      const [base = '', one = '', two = '', three = ''] = at(3).manifest.files;
      at(3).claim({ files: [base, two, one, three] });
    },
    'it is not later than 2026-11-23T030002Z',
  ],
  [
    'an increment twice',
    (at) => {
      const [base = '', one = '', two = '', three = ''] = at(3).manifest.files;
      at(3).claim({ files: [base, one, one, two, three] });
    },
    'it is not later than 2026-11-23T030001Z',
  ],
  [
    'an increment left out',
    (at) => at(3).claim({ files: at(3).manifest.files.filter((_, index) => index !== 1) }),
    ', newest 2026-11-23T030000Z/subscriptions-',
  ],
  [
    'no whole report',
    (at) => at(3).claim({ files: at(3).manifest.files.slice(1) }),
    'it is an increment, its place in files a whole report',
  ],
  ['the whole report gone', (at) => rmSync(at(0).file), 'there is no such file'],
  ['an increment gone', (at) => rmSync(at(1).file), 'there is no such file'],
  ['the manifest of an increment gone', (at) => rmSync(at(2).manifestPath), 'there is no manifest of it'],
  [
    'a value of the whole report',
    (at) => writeFileSync(at(0).file, text(at(0)).replace('dev-0', 'dev-x')),
    ': sha256 ',
  ],
  ['a value of an increment', (at) => writeFileSync(at(1).file, text(at(1)).replace('dev-1', 'dev-x')), ': sha256 '],
  ['an increment cut short', (at) => writeFileSync(at(1).file, text(at(1)).slice(0, 700)), 'it must have records: '],
  ['the rows', (at) => at(2).claim({ rows: 3 }), 'rows 2, manifest 3'],
  ['the removals', (at) => at(3).claim({ removals: 1 }), 'removals 2, manifest 1'],
  ['the records of the report', (at) => at(3).claim({}, { rows: 9 }), 'records with all changes 7, manifest 9'],
  ['the revision of an increment', (at) => at(2).claim({}, { revision: 1 }), 'revision 1, before it 2'],
  ['the client of an increment', (at) => at(1).claim({}, { client_id: 'other' }), ': what it is of ndjson raw http'],
  ['the columns', (at) => at(3).claim({ columns: at(0).manifest.columns }), ': columns id VARCHAR'],
  [
    'no change token',
    (at) => at(3).claim({ next: undefined as unknown as string }),
    'must be a manifest that sync wrote',
  ],
  [
    'a member that no record has',
    (at) => at(1).forge(text(at(1)).replace('"iccid"', '"more":1,"iccid"')),
    'must have records',
  ],
];

/** What only the report shows. */
const shownByReport: readonly Alteration[] = [
  [
    'a value that agrees with its manifest',
    (at) => at(2).forge(text(at(2)).replace('dev-2', 'dev-x')),
    "s7: device_id 'dev-x', report 'dev-2'",
  ],
  [
    'two increments exchanged',
    (at) => {
      const [one, two] = [at(1), at(2)];
      const [first, second] = [text(one), text(two)];
      const [{ rows: firstRows }, { rows: secondRows }] = [one.manifest, two.manifest];
      one.forge(second, { rows: secondRows });
      two.forge(first, { rows: firstRows });
    },
    "s7: device_id 'dev-1', report 'dev-2'",
  ],
  ['the revision', (at) => at(3).claim({}, { revision: 99 }), 'Cannot compare with the report at revision 99'],
  [
    'the filters',
    (at) => {
      for (const second of [0, 1, 2, 3]) at(second).claim({}, { applied_filters: 'status=ACTIVE' });
    },
    "report.applied_filters 'status=ACTIVE', report '",
  ],
];

let count = 0;
async function alter([, change]: Alteration): Promise<string> {
  const template = templates.get('ndjson') ?? writeTemplate('ndjson');
  templates.set('ndjson', template);
  count += 1;
  const place = join(folder, `copy-${count}`);
  cpSync(await template, place, { recursive: true });
  change((second) => new Written(place, second));
  return place;
}

/** What verify says of an increment whose last column has another word than true and false. */
async function verifyWithUnknownCell(original: string): Promise<string> {
  const place = `${original}-altered`;
  cpSync(original, place, { recursive: true });
  const increment = new Written(place, 1);
  increment.forge(text(increment).replace(/,false(\r?\n)/, ',no$1'));
  return (await run(place, 'verify')).stderr;
}

describe('verify of an increment', () => {
  test.each([...shownByFiles, ...shownByReport])('finds and names %s', async (...alteration) => {
    const place = await alter(alteration);
    const { code, stdout, stderr } = await run(place, 'verify');
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(alteration[2]);
  });

  test.each(shownByFiles)('finds and names %s without a service', async (...alteration) => {
    const place = await alter(alteration);
    const { code, stdout, stderr } = await runHere(['sync', 'verify', '--to', `dir:${place}`], {
      XDG_CONFIG_HOME: folder,
    });
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(alteration[2]);
  });

  test.each(['csv', 'csv.gz', 'parquet'])(
    'reads all files of a chain of format %s, and --all each of them',
    async (format) => {
      const place = await writeTemplate(format);
      const { code, stdout } = await run(place, 'verify', '--all');
      expect([code, stdout.match(/ equals its manifest/g)?.length]).toEqual([0, 4]);
      expect(stdout.match(/it was read with a later increment/g)).toHaveLength(2);
      if (format === 'csv') expect(await verifyWithUnknownCell(place)).toContain("it must have records, and no '");
      const newest = new Written(place, 3);
      writeFileSync(newest.file, Buffer.from(readFileSync(newest.file)).fill(32, 60, 80));
      expect(await run(place, 'verify')).toMatchObject({ code: 1, stdout: '' });
    },
  );
});
