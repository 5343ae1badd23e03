import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newestManifest, readManifest } from '../../src/sync/manifest.ts';
import { openFiles, type PlaceOptions } from '../../src/sync/open-destination.ts';
import { verifySnapshot } from '../../src/sync/run-snapshot.ts';
import { Random } from '../simulation/random.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startCommand } from '../support/run-command.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { hasSshd, knownHost, type Place, startS3, startSshd } from './file-servers.ts';

// Each kind of place, with kill -9 at random points of a run. `FILE_KILLS=10` is what the note has.
const kills = Number(process.env.FILE_KILLS ?? 3);
const withSshd = hasSshd();

let folder: string;
let service: TestService;
let report: ChangingReport;
let s3: Awaited<ReturnType<typeof startS3>>;
let sshd: Awaited<ReturnType<typeof startSshd>> | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-places-'));
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'places', 1);
  await report.load(
    Array.from({ length: 30_000 }, (_, n) => subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n })),
  );
  s3 = await startS3(join(folder, 's3'));
  if (withSshd) sshd = await startSshd(join(folder, 'sshd'));
}, 120_000);
afterAll(async () => {
  await s3.stop();
  await sshd?.stop();
  await service.close();
  rmSync(folder, { recursive: true });
});

const places: Readonly<Record<string, (name: string) => Place>> = {
  dir(name) {
    mkdirSync(join(folder, name));
    return { to: `dir:${join(folder, name)}`, options: [], environment: {} };
  },
  s3: (name) => s3.placeOf(name),
  ...(withSshd && { sftp: (name: string) => (sshd as NonNullable<typeof sshd>).placeOf(name) }),
};

const argsOf = ({ to, options }: Place, second: number, format = 'ndjson') => [
  ...['sync', '--to', to, ...options, '--format', format],
  ...['--scheduled-for', `2026-11-23T03:00:0${second}Z`],
];
const environment = (place: Place) => ({ ...environmentOf(service, report.credentials), ...place.environment });

/** Opens a place as its reader. */
const filesOf = ({ to, options, environment: variables }: Place) => {
  const secrets: Record<string, string> = {};
  for (const [at, option] of options.entries())
    if (option === '--host-key') secrets.hostKey = options[at + 1] ?? '';
    else if (option === '--secret-file') secrets.secretFile = options[at + 1] ?? '';
  return openFiles({ to, ...secrets } satisfies PlaceOptions, variables);
};

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

  test('a run for a complete instant removes the lock of the run that completed it and was killed then', async () => {
    const place = placeOf(`${name}-locked`);
    expect((await runHere(argsOf(place, 0), environment(place))).stderr).toBe('');
    const { manifest } = await verifySnapshot(await filesOf(place));
    const files = await filesOf(place);
    const { pid } = spawnSync(process.execPath, ['--version']); // it has ended
    const lock = { run: 'killed', host: hostname(), pid, until: new Date(Date.now() + 60_000).toISOString() };
    const lockName = '.subreport-sync.lock';
    await files.create(lockName, JSON.stringify({ ...lock, file: `2026-11-23T030000Z/${manifest.file}` }));
    const again = await runHere(argsOf(place, 0), environment(place));
    expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('was complete before')]);
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

  test('a run that is killed leaves no manifest without its file, and the next run completes', async () => {
    const place = placeOf(`${name}-killed`);
    const random = new Random(kills);
    let killed = 0;
    for (let round = 0; round < kills; round += 1) {
      const running = startCommand(argsOf(place, round), { environment: environment(place) });
      await sleep(random.between(300, 1_800));
      running.child.kill('SIGKILL');
      killed += Number((await running.ended).code === null);
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
      expect(await files.read('.subreport-sync.lock')).toBeUndefined();
      await files.close();
    }
    process.stdout.write(`${name}: ${killed} of ${kills} were killed while they ran\n`);
  }, 300_000);
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
