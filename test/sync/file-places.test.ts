import { execFile, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takeLock } from '../../src/sync/file-lock.ts';
import { newestManifest, readManifest } from '../../src/sync/manifest.ts';
import { verifySnapshot } from '../../src/sync/run-snapshot.ts';
import { Random } from '../simulation/random.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startCommand } from '../support/run-command.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import {
  filesOf,
  hasBotocore,
  hasSshd,
  knownHost,
  namesAt,
  type Place,
  rcloneRemoteOf,
  startS3,
  startSignatureGateway,
  startSshd,
  uploadsOf,
} from './file-servers.ts';

// Each kind of place, with kill -9 at random points of a run. `FILE_KILLS=10` is what the note has.
const kills = Number(process.env.FILE_KILLS ?? 3);
const withSshd = hasSshd();
const withRclone = hasTools('rclone', 'jq', 'sha256sum');
const execute = promisify(execFile);

const rows = Array.from({ length: 30_000 }, (_, n) =>
  subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n }),
);
const wholeBytes = rows.reduce((sum, { record }) => sum + record.length + 1, 0);

let folder: string;
let service: TestService;
let report: ChangingReport;
let s3: Awaited<ReturnType<typeof startS3>>;
let sshd: Awaited<ReturnType<typeof startSshd>> | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-places-'));
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'places', 1);
  await report.load(rows);
  s3 = await startS3(join(folder, 's3'));
  if (withSshd) sshd = await startSshd(join(folder, 'sshd'));
});
afterAll(async () => {
  await s3.stop();
  await sshd?.stop();
  await service.close();
  rmSync(folder, { recursive: true });
});

const places: Readonly<Record<string, (name: string) => Place>> = {
  dir(name) {
    mkdirSync(join(folder, name));
    return { to: `dir:${join(folder, name)}`, options: [], environment: {}, folder: join(folder, name) };
  },
  s3: (name) => s3.placeOf(name),
  ...(withSshd && { sftp: (name: string) => (sshd as NonNullable<typeof sshd>).placeOf(name) }),
};

const argsOf = ({ to, options }: Place, second: number, format = 'ndjson') => [
  ...['sync', '--to', to, ...options, '--retry-seconds', '0', '--format', format],
  ...['--scheduled-for', `2026-11-23T03:00:0${second}Z`],
];
const environment = (place: Place) => ({ ...environmentOf(service, report.credentials), ...place.environment });

const lockName = '.subreport-sync.lock';

/** The lock of a run whose process has ended. */
function deadLock(file: string): string {
  const { pid } = spawnSync(process.execPath, ['--version']);
  const until = new Date(Date.now() + 60_000).toISOString();
  return JSON.stringify({ run: 'killed', host: hostname(), pid, until, file });
}

/** The size of all files in a folder, which change meanwhile. */
const bytesBelow = (at: string): number =>
  readdirSync(at, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + (statSync(join(at, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

describe.each(Object.entries(places))('files in %s', (name, placeOf) => {
  test('a run writes the whole report, and a second one for its instant writes nothing', async () => {
    const place = placeOf(`${name}-whole`);
    const first = await runHere(argsOf(place, 0), environment(place));
    expect([first.stderr, first.code]).toEqual(['', 0]);
    expect(first.stdout).toMatch(
      /^copy 30,000 rows = report 30,000 rows at revision 1 in \S+\/subscriptions-\w{16}\.ndjson\n$/,
    );
    const second = await runHere(argsOf(place, 0), environment(place));
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining(first.stdout) });
    const verified = await verifySnapshot(await filesOf(place));
    expect([verified.isEqual, verified.manifest.sha256]).toEqual([true, await report.digest()]);
    expect((await runHere(['sync', 'status', '--to', place.to, ...place.options], environment(place))).stdout).toMatch(
      /^30,000 rows at revision 1/,
    );
  });

  test('a run for a complete instant removes what the run that completed it and was killed then has left', async () => {
    const place = placeOf(`${name}-locked`);
    expect((await runHere(argsOf(place, 0), environment(place))).stderr).toBe('');
    const { manifest } = await verifySnapshot(await filesOf(place));
    const files = await filesOf(place);
    // as after a kill when the manifest had appeared; S3 has no such step
    if (name !== 's3') await files.create('2026-11-23T030000Z/manifest.json.0123abcd.part', '{}');
    await files.create(lockName, deadLock(`2026-11-23T030000Z/${manifest.file}`));
    const again = await runHere(argsOf(place, 0), environment(place));
    expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('was complete before')]);
    expect(await files.read(lockName)).toBeUndefined();
    expect(namesAt(place).toSorted()).toEqual(['manifest.json', manifest.file]);
    await files.close();
  });

  test('a run that is slow to take over the lock of a dead run leaves the new lock of another run', async () => {
    const files = await filesOf(placeOf(`${name}-takeover`));
    const fileOf = (run: string) => `2026-11-23T030000Z/subscriptions-${run.repeat(16)}.csv`;
    await files.create(lockName, deadLock(fileOf('a')));
    let quick: Awaited<ReturnType<typeof takeLock>> | undefined;
    const slow = takeLock(files, 'c', fileOf('c'), async () => {
      quick = await takeLock(files, 'b', fileOf('b'), async () => undefined);
    });
    await expect(slow).rejects.toMatchObject({ code: 'DESTINATION_BUSY' });
    await quick?.confirm();
    await quick?.release();
    expect(await files.read(lockName)).toBeUndefined();
    await files.close();
  });

  test('two runs at once for one instant end with one manifest, of a whole file', async () => {
    const place = placeOf(`${name}-both`);
    const running = [1, 2].map(() => startCommand(argsOf(place, 0), { environment: environment(place) }));
    const ended = await Promise.all(running.map((each) => each.ended));
    expect(ended.map(({ code, stderr }) => (code === 0 ? 'done' : stderr)).join('\n')).toMatch(/^done$/m);
    for (const { code, stderr } of ended) if (code !== 0) expect(stderr).toMatch(/^Cannot sync to .*: no other sync/);
    expect((await verifySnapshot(await filesOf(place))).isEqual).toBe(true);
  });

  test.runIf(withRclone)('rclone and sha256sum confirm the files of two runs by their manifests', async () => {
    const place = placeOf(`${name}-confirmed`);
    for (const second of [0, 1]) expect((await runHere(argsOf(place, second), environment(place))).stderr).toBe('');
    const knownHosts = join(folder, 'known_hosts_of_rclone');
    if (sshd !== undefined) writeFileSync(knownHosts, knownHost(join(folder, 'sshd'), sshd.port));
    const { remote, variables } = rcloneRemoteOf(place, knownHosts);
    const rclone = (...args: readonly string[]) =>
      execute('rclone', ['--retries', '1', ...args], { env: { PATH: process.env.PATH, ...variables } });
    const copy = join(folder, `${name}-copy`);
    await rclone('copy', remote, copy);
    expect((await rclone('check', '--download', remote, copy)).stderr).toContain('0 differences found');
    const instants = readdirSync(copy).sort();
    expect(instants).toEqual(['2026-11-23T030000Z', '2026-11-23T030001Z']);
    const confirm = (instant = '') =>
      execute('sh', ['-c', `jq -r '"\\(.sha256)  \\(.file)"' manifest.json | sha256sum -c`], {
        cwd: join(copy, instant),
      });
    for (const instant of instants) expect((await confirm(instant)).stdout).toMatch(/^subscriptions-.*: OK\n$/);
    const { manifest } = await verifySnapshot(await filesOf(place));
    appendFileSync(join(copy, instants[1] ?? '', manifest.file), ' ');
    await expect(rclone('check', '--download', remote, copy)).rejects.toThrow('1 differences found');
    await expect(confirm(instants[1])).rejects.toThrow('did NOT match');
  });

  test('a run that is killed leaves no manifest without its file, and the next run completes', async () => {
    const place = placeOf(`${name}-killed`);
    const random = new Random(kills);
    const watched = name === 's3' ? join(folder, 's3', 'exports') : place.folder;
    let killed = 0;
    for (let round = 0; round < kills; round += 1) {
      const written = bytesBelow(watched);
      const running = startCommand(argsOf(place, round), { environment: environment(place) });
      let isOver = false;
      void running.ended.then(() => {
        isOver = true;
      });
      // from the first bytes of the lock to the end of the run, in equal steps
      const bytes = Math.floor((wholeBytes * round) / Math.max(1, kills - 1));
      while (!isOver && bytesBelow(watched) <= written + bytes) await sleep(1);
      await sleep(random.between(0, 20));
      running.child.kill('SIGKILL');
      killed += Number((await running.ended).code === null);
      if (name !== 's3') {
        // a file has its name when it is complete
        const names = readdirSync(place.folder, { recursive: true, encoding: 'utf8' });
        const sizes = names
          .filter((each) => each.endsWith('.ndjson'))
          .map((each) => statSync(join(place.folder, each)).size);
        expect(new Set([wholeBytes, ...sizes])).toEqual(new Set([wholeBytes]));
      }
      const files = await filesOf(place);
      const instant = `2026-11-23T03000${round}Z`;
      if ((await readManifest(files, instant)) !== undefined)
        expect((await verifySnapshot(await filesOf(place))).isEqual).toBe(true);
      const before = (await newestManifest(files))?.manifest.file;
      const next = await runHere(argsOf(place, round), environment(place));
      expect([next.stderr, next.code]).toEqual(['', 0]);
      const { manifest, isEqual } = await verifySnapshot(await filesOf(place));
      expect([isEqual, manifest.scheduled_for]).toEqual([true, `2026-11-23T03:00:0${round}Z`]);
      if (next.stdout.includes('was complete before')) expect(manifest.file).toBe(before);
      const ofManifests = namesAt(place).filter((each) => each === 'manifest.json');
      const ofFiles = namesAt(place).filter((each) => each.endsWith('.ndjson'));
      expect([ofManifests.length, ofFiles.length, namesAt(place).length]).toEqual([
        round + 1,
        round + 1,
        2 * round + 2,
      ]);
      if (name === 's3') expect(readdirSync(uploadsOf(join(folder, 's3')))).toEqual([]);
      await files.close();
    }
    process.stdout.write(`${name}: ${killed} of ${kills} were killed while they ran\n`);
  });
});

describe.runIf(hasBotocore())('the signatures of S3', () => {
  let gateway: Awaited<ReturnType<typeof startSignatureGateway>>;
  beforeAll(async () => {
    gateway = await startSignatureGateway(s3.url);
  });
  afterAll(() => gateway.stop());

  const placeWith = (secret: string): Place => ({
    ...s3.placeOf('signed'),
    to: "s3://exports/signed ü+1 (a)'*!/~x?region=eu-central-1",
    environment: { AWS_ENDPOINT_URL: gateway.url, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: secret },
  });

  test('of a whole run and its check are those that botocore computes', async () => {
    const place = placeWith('secret');
    for (const command of [argsOf(place, 0), ['sync', 'check', '--to', place.to], ['sync', 'verify', '--to', place.to]])
      expect(await runHere(command, environment(place))).toMatchObject({ stderr: '', code: 0 });
    const lines = gateway.lines();
    expect(lines.filter((line) => !line.startsWith('valid '))).toEqual([]);
    const methods = new Set(lines.map((line) => line.split(' ')[1]));
    expect([...methods].sort()).toEqual(['DELETE', 'GET', 'HEAD', 'POST', 'PUT']);
  });

  test('with a wrong secret are refused there, and nothing is written', async () => {
    const place = placeWith('wrong');
    const before = gateway.lines().length;
    const { code, stdout, stderr } = await runHere(argsOf(place, 1), environment(place));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^Cannot use s3:.*: it must be a bucket that exists.*: current value is 403 SignatureDoesNotMatch\n$/,
    );
    expect(gateway.lines().slice(before)).toEqual([expect.stringMatching(/^SignatureDoesNotMatch GET /)]);
  });
});

describe.runIf(withSshd)('an SFTP server', () => {
  const running = () => sshd as NonNullable<typeof sshd>;

  test('without a pinned key is refused with its fingerprint and how to pin it', async () => {
    const place = running().placeOf('unpinned');
    const withoutKey = { ...place, options: [...place.options.slice(2), '--known-hosts', '/dev/null'] };
    const { code, stdout, stderr } = await runHere(argsOf(withoutKey, 0), environment(place));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`then use --host-key ${running().fingerprint}: current value is not pinned`);
  });

  test('with another key than the pinned one is refused', async () => {
    const place = running().placeOf('changed');
    const other = { ...place, options: ['--host-key', `SHA256:${'a'.repeat(43)}`, ...place.options.slice(2)] };
    const { code, stderr } = await runHere(argsOf(other, 0), environment(place));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`its host key must be the pinned one`)]);
    expect(stderr).toContain(running().fingerprint);
  });

  test('is trusted with its line in known_hosts', async () => {
    const place = running().placeOf('known');
    const file = join(folder, 'known_hosts');
    writeFileSync(file, `github.com ssh-ed25519 AAAA\n${knownHost(join(folder, 'sshd'), running().port)}`);
    const known = { ...place, options: [...place.options.slice(2), '--known-hosts', file] };
    expect((await runHere(argsOf(known, 0), environment(place))).stderr).toBe('');
  });

  test('is refused with a key that known_hosts revokes for any host, although another line trusts it', async () => {
    const place = running().placeOf('revoked');
    const file = join(folder, 'known_hosts_revoked');
    const trusted = knownHost(join(folder, 'sshd'), running().port);
    writeFileSync(file, `${trusted.trimEnd()}\n${trusted.replace(/^\S+/, '@revoked *')}`);
    const revoked = { ...place, options: [...place.options.slice(2), '--known-hosts', file] };
    const { code, stdout, stderr } = await runHere(argsOf(revoked, 0), environment(place));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('its host key must be pinned');
  });
});
