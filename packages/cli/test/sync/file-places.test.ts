import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../../../test/simulation/random.ts';
import { drawPart } from '../../../../test/support/draw.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type RunningCommand, startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { folderOf, type Manifest } from '../../sync/files/manifest.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import {
  type FileServer,
  hasReceivers,
  largeRows,
  mediumRows,
  namesAt,
  type Place,
  startS3,
  startSshd,
  verifyNewest,
} from './file-servers.ts';
import { startBesideFolder } from './start-beside-folder.ts';

// Each kind of place, with kill -9 at random points of a run; one kind in a run, all of them with
// `ALL=1`. `FILE_KILLS=25` kills 25 runs of each kind.
const kills = Number(process.env.FILE_KILLS ?? 2);
const kinds = drawPart(['dir', ...(hasReceivers() ? ['S3', 'SFTP'] : [])], 3);

const { folder, service } = await startBesideFolder('places');
const reports: Record<string, ChangingReport> = {};
const servers: Record<string, FileServer> = {};
beforeAll(async () => {
  for (const [size, rows] of Object.entries({ large: largeRows, medium: mediumRows })) {
    reports[size] = await createChangingReport(service, size, 1);
    await reports[size].load(rows);
  }
  if (kinds.includes('S3')) servers.S3 = await startS3(join(folder, 's3'));
  if (kinds.includes('SFTP')) servers.SFTP = await startSshd(join(folder, 'sshd'));
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop();
});

/** Creates a place of a kind. */
function placeOf(kind: string, name: string): Place {
  if (kind !== 'dir') return (servers[kind] as FileServer).placeOf(name);
  mkdirSync(join(folder, name));
  return { to: `dir:${join(folder, name)}`, environment: {}, folder: join(folder, name) };
}

const instantOf = (second: number): Date => new Date(Date.UTC(2026, 10, 23, 3, 0, second));
const argsOf = ({ to }: Place, second: number) => [
  ...['sync', '--to', to, '--format', 'ndjson', '--scheduled-for', instantOf(second).toISOString()],
];

/** Expects that each manifest at the receiver is of a whole file. Returns the complete instants. */
function expectWhole(place: Place): Set<string> {
  const complete = new Set<string>();
  const instants = readdirSync(place.folder);
  for (const instant of instants) {
    const at = join(place.folder, instant);
    for (const name of readdirSync(at).filter((each) => each.startsWith('manifest-'))) {
      const text = readFileSync(join(at, name), 'utf8');
      if (!text.endsWith('\n}\n')) continue; // killed while it was written: no manifest
      const manifest: Manifest = JSON.parse(text);
      const bytes = readFileSync(join(at, manifest.file));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect([bytes.length, sha256]).toEqual([manifest.bytes, manifest.sha256]);
      complete.add(instant);
    }
  }
  return complete;
}

/** The processes that a command has started. */
const childrenOf = ({ child }: RunningCommand): number[] => {
  try {
    return readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').map(Number);
  } catch {
    return []; // it has ended, or there is no such file system
  }
};

function kill(pid: number): void {
  if (pid === 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return pid !== 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.each(kinds)('files in %s', (kind) => {
  let report: ChangingReport;
  // S3 gets two parts, and a run that is killed in a folder has time to write
  beforeAll(() => {
    report = reports[kind === 'dir' || kind === 'S3' ? 'large' : 'medium'] as ChangingReport;
  });
  const environment = (place: Place) => ({ ...environmentOf(service, report.credentials), ...place.environment });

  test('a run writes the whole report, and a second one for its instant writes nothing', async () => {
    const place = placeOf(kind, 'whole');
    const first = await runHere(argsOf(place, 0), environment(place));
    expect([first.stderr, first.code]).toEqual(['', 0]);
    expect(first.stdout).toMatch(
      /^copy ([\d,]{3,5}) rows = report \1 rows at revision \d+ in \S+\/subscriptions-\w{16}\.ndjson\n$/,
    );
    const names = namesAt(place);
    const second = await runHere(argsOf(place, 0), environment(place));
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining(first.stdout) });
    expect([namesAt(place), names.length]).toEqual([names, 2]);
    const { isEqual, manifest } = await verifyNewest(place);
    expect([isEqual, manifest.sha256]).toEqual([true, await report.digest()]);
    const options = ['--to', place.to];
    for (const [command, said] of [
      ['verify', 'equals its manifest and the report at revision '],
      ['status', `${manifest.rows.toLocaleString('en')} rows at revision ${manifest.report.revision}, synced `],
    ] as const) {
      const { code, stdout, stderr } = await runHere(['sync', command, ...options], environment(place));
      expect([code, stdout, stderr]).toEqual([0, expect.stringContaining(said), '']);
    }
    const other = await service.createClient(report.tenant);
    const refused = await runHere(argsOf(place, 1), { ...environment(place), ...environmentOf(service, other) });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('files for the same client')]);
    expect(namesAt(place)).toEqual(names);
  });

  test('two runs at once for one instant end with whole files, and verify reads one by rule', async () => {
    const place = placeOf(kind, 'both');
    const running = [1, 2].map(() => startCommand(argsOf(place, 0), { environment: environment(place) }));
    const ended = await Promise.all(running.map((each) => each.ended));
    // over SFTP, both may create the folder, and one of them is to be run again
    const collision = /^Cannot write to .*mkdir "[^"]*" failed: sftp: "Failure"/;
    const said = ended.map(({ code, stderr }) =>
      code === 75 && collision.test(stderr) && kind === 'SFTP' ? '' : stderr,
    );
    expect(said).toEqual(['', '']);
    expect(ended.map(({ code }) => code)).toContain(0);
    expectWhole(place);
    const manifests = namesAt(place).filter((name) => name.startsWith('manifest-'));
    const { isEqual, manifest } = await verifyNewest(place);
    expect([isEqual, `manifest-${manifest.file.slice(14, 30)}.json`]).toEqual([true, manifests.at(-1)]);
    const again = await runHere(argsOf(place, 0), environment(place));
    expect(again.stdout).toContain(manifest.file);
  });

  test('runs killed at random points leave no manifest without its whole file, and the next run completes', async () => {
    const place = placeOf(kind, 'killed');
    const random = new Random(kills);
    let [killed, lasted] = [0, 1_000];
    for (let round = 0; round < kills; round += 1) {
      const complete = expectWhole(place);
      const running = startCommand(argsOf(place, round), { environment: environment(place) });
      if (round % 2 === 0) await sleep(random.between(0, lasted));
      else {
        // the end of a run, in which its manifest is written
        let isOver = false;
        void running.ended.then(() => {
          isOver = true;
        });
        const wholeFiles = () => namesAt(place).filter((name) => name.endsWith('.ndjson')).length;
        while (!isOver && wholeFiles() <= complete.size) await sleep(1);
        await sleep(random.between(0, 500));
      }
      // every other time without what it has started: rclone then finds the end of its input
      const children = childrenOf(running);
      for (const pid of round % 4 < 2 ? [running.child.pid ?? 0, ...children] : [running.child.pid ?? 0]) kill(pid);
      killed += Number((await running.ended).code === null);
      expectWhole(place);
      await eventually(() => expect(children.filter(isAlive)).toEqual([]));
      const wasComplete = expectWhole(place).has(folderOf(instantOf(round)));
      const begin = performance.now();
      const next = await runHere(argsOf(place, round), environment(place));
      lasted = performance.now() - begin + 300;
      expect([next.stderr, next.code]).toEqual(['', 0]);
      expect(next.stdout.includes('was complete before')).toBe(wasComplete);
      expect(expectWhole(place)).toEqual(new Set([...complete, folderOf(instantOf(round))]));
      const { manifest, isEqual } = await verifyNewest(place);
      expect([isEqual, folderOf(new Date(manifest.scheduled_for))]).toEqual([true, folderOf(instantOf(round))]);
      if (random.between(0, 1) === 0) await report.load([subscriptionRow({ id: `new_${kind}_${round}` })]);
    }
    process.stdout.write(`${kind}: ${killed} of ${kills} were killed while they ran\n`);
  });
});
