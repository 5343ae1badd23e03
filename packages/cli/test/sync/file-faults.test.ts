import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drawPart } from '../../../../test/support/draw.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { RcloneFiles } from '../../sync/files/rclone-files.ts';
import { type ChangingReport, createChangingReport, environmentOf, environmentThrough } from './changing-report.ts';
import {
  type FileServer,
  hasReceivers,
  largeRows,
  localServer,
  mediumRows,
  namesAt,
  type Place,
  startS3,
  startSshd,
  verifyNewest,
} from './file-servers.ts';
import { startLossyProxy } from './lossy-proxy.ts';
import { startBesideFolder } from './start-beside-folder.ts';

// What goes wrong at the receivers of files, and between. Each failed run ends with a sentence and
// an exit code, and leaves no manifest; the next run completes. A run takes a third of the suites,
// and what keeps secrets; with `ALL=1` it takes everything.

const { folder, service } = await startBesideFolder('faults');
let medium: ChangingReport;
let large: ChangingReport;
/** What the runs of a test copy. */
let report: ChangingReport;
let sshd: Awaited<ReturnType<typeof startSshd>>;
const withReceivers = hasReceivers();
const suites = drawPart(['disk', 'S3', 'SFTP', 'rclone', 'liars'], 3);
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  medium = await createChangingReport(service, 'medium', 1);
  await medium.load(mediumRows);
  large = await createChangingReport(service, 'large', 1);
  await large.load(largeRows);
  if (withReceivers) sshd = await startSshd(join(folder, 'sshd'));
});
beforeEach(() => {
  report = medium;
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  if (withReceivers) await sshd.stop();
});

const argsOf = ({ to }: Place): string[] => [
  ...['sync', '--to', to, '--format', 'ndjson', '--scheduled-for', '2026-11-23T03:00:00Z'],
];
const variablesOf = (place: Place) => ({ ...environmentOf(service, report.credentials), ...place.environment });

/** Starts a server for one test. */
async function during<S extends { stop(): unknown }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  ends.push(() => server.stop());
  return server;
}

const manifestsAt = (place: Place): string[] => namesAt(place).filter((name) => name.startsWith('manifest-'));

/** Runs, and expects an exit code, a sentence in one line, and no manifest. */
async function expectFailure(place: Place, code: number, sentence: RegExp): Promise<void> {
  const result = await runHere(argsOf(place), variablesOf(place));
  expect([result.code, result.stdout]).toEqual([code, '']);
  expect(result.stderr).toMatch(sentence);
  expect(result.stderr.trim().split('\n')).toHaveLength(1);
  expect(manifestsAt(place)).toEqual([]);
}

/** Runs, and expects the whole report with its manifest; files of failed runs may be beside it. */
async function expectComplete(place: Place): Promise<void> {
  expect(await runHere(argsOf(place), variablesOf(place))).toMatchObject({ stderr: '', code: 0 });
  const { isEqual, manifest } = await verifyNewest(place);
  expect([isEqual, manifest.sha256]).toEqual([true, await report.digest()]);
  expect(manifestsAt(place)).toHaveLength(1);
}

const local = (name: string): Place => {
  mkdirSync(join(folder, name));
  return { to: `dir:${join(folder, name)}`, environment: {}, folder: join(folder, name) };
};

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe.runIf(canMount && suites.includes('disk'))('a disk that is full', () => {
  /** A file system of 4 MiB at a folder; returns a function that makes room. */
  function mountSmallDisk(at: string): () => void {
    report = large;
    mkdirSync(at, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0755', 'subreport-test', at]);
    ends.push(() => execFileSync('umount', ['--lazy', at]));
    return () => execFileSync('mount', ['-o', 'remount,size=64m', at]);
  }

  const failed = 'Cannot write to rclone:.*: rclone must store the whole file: current value is Failed to rcat';
  test.each<[string, string, (at: string) => Place | Promise<Place>]>([
    [
      'under a folder',
      'Cannot use dir:.*: it must have room for the files.* \\(ENOSPC\\)$',
      () => local('full/exports'),
    ],
    ...(withReceivers
      ? ([
          ['at rclone', `${failed}.*no space left on device$`, (at) => localServer(at).placeOf('exports')],
          ['at an SFTP server', `${failed}.*$`, async (at) => (await during(startSshd(at))).placeOf('exports')],
        ] as [string, string, (at: string) => Place | Promise<Place>][])
      : []),
  ])('%s is a failure, and the next run completes once there is room', async (_where, sentence, placeOf) => {
    const at = join(folder, 'full');
    const makeRoom = mountSmallDisk(at);
    const place = await placeOf(at);
    await expectFailure(place, 1, new RegExp(`^${sentence}`, 'm'));
    if (place.to.startsWith('dir:')) expect(namesAt(place)).toEqual([]);
    makeRoom();
    await expectComplete(place);
  });
});

describe.runIf(withReceivers && suites.includes('S3'))('S3', () => {
  const isMade = (key: string): boolean => key.includes('/subscriptions-');

  test.each([
    ['to take a part', (method: string, key: string) => method === 'PUT' && isMade(key)],
    [
      'to join the parts',
      (method: string, key: string, parts: number) => method === 'POST' && isMade(key) && parts > 0,
    ],
    ['to take the manifest', (_method: string, key: string) => key.includes('/manifest-')],
  ])('that refuses %s is a failure, and leaves no upload', async (what, refuses) => {
    report = large;
    let isOver = false;
    let parts = 0;
    const s3 = await during(
      startS3(join(folder, `s3-${what.replaceAll(' ', '-')}`), (method, key) => {
        const isRefused = !isOver && refuses(method, key, parts);
        parts += Number(method === 'PUT');
        return isRefused ? [403, 'QuotaExceeded'] : undefined;
      }),
    );
    const place = s3.placeOf('files');
    await expectFailure(place, 1, /^Cannot write to rclone:s3:exports\/files: .*Failed to rcat.*QuotaExceeded/);
    expect(s3.uploads()).toBe(0);
    isOver = true;
    await expectComplete(place);
  });

  test('without the bucket is a failure, and none is made', async () => {
    const s3 = await during(startS3(join(folder, 's3-none')));
    const place = { ...s3.placeOf('files'), to: 'rclone:s3:exported/files' };
    await expectFailure(place, 1, /^Cannot write to rclone:s3:exported\/files: .*NoSuchBucket/);
  });

  test('that lets a client write, and only look at what it wrote, gets a whole file, and the run says what it could not read', async () => {
    let mayRead = false;
    const s3 = await during(
      // HEAD: rclone compares the size of what it has streamed
      startS3(join(folder, 's3-write'), (method) => (mayRead || method !== 'GET' ? undefined : [403, 'AccessDenied'])),
    );
    const place = s3.placeOf('files');
    const { code, stdout, stderr } = await runHere(argsOf(place), variablesOf(place));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^copy 300 rows/)]);
    expect(stderr).toMatch(
      /^Cannot read rclone:s3:exports\/files: .*AccessDenied.* So earlier files in rclone:s3:exports\/files were not looked at\n$/,
    );
    for (const command of ['status', 'verify']) {
      const denied = await runHere(['sync', command, '--to', place.to], variablesOf(place));
      expect([denied.code, denied.stdout, denied.stderr]).toEqual([
        1,
        '',
        expect.stringMatching(/^Cannot read rclone:/),
      ]);
    }
    mayRead = true;
    expect((await verifyNewest(place)).isEqual).toBe(true);
    expect(namesAt(place)).toHaveLength(2);
  });
});

describe.runIf(withReceivers && suites.includes('SFTP'))('an SFTP server', () => {
  test('that is read-only, or with another user key, is a failure', async () => {
    const readOnly = await during(startSshd(join(folder, 'sftp-read'), 'internal-sftp -R'));
    const denied = /^Cannot write to rclone:sftp:.*.*Failed to rcat.*permission denied$/m;
    const readable = readOnly.placeOf('files');
    await expectFailure(readable, 1, denied);
    const place = sshd.placeOf('other-user');
    const environment = { ...place.environment, RCLONE_CONFIG_SFTP_KEY_FILE: join(folder, 'sftp-read', 'user') };
    await expectFailure({ ...place, environment }, 1, /^Cannot write to rclone:sftp:.*unable to authenticate/);
  });

  test('with another host key than the known one is refused, and without known hosts a run warns', async () => {
    const place = sshd.placeOf('hosts');
    const other = join(folder, 'other_hosts');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'other')]);
    writeFileSync(other, `[127.0.0.1]:${sshd.port} ${readFileSync(join(folder, 'other.pub'), 'utf8')}`);
    const { RCLONE_CONFIG_SFTP_KNOWN_HOSTS_FILE: pinned, ...environment } = place.environment;
    const unpinned = { ...place, environment };
    await expectFailure(
      { ...unpinned, environment: { ...environment, RCLONE_SFTP_KNOWN_HOSTS_FILE: other } },
      1,
      /^Cannot write to rclone:sftp:.*knownhosts: key mismatch/,
    );
    const warned = await runHere([...argsOf(unpinned), '--quiet'], variablesOf(unpinned));
    expect([warned.code, warned.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^Warning: rclone does not check the host key of rclone:sftp:.*RCLONE_SFTP_KNOWN_HOSTS_FILE.*\n$/,
      ),
    ]);
    const pinning = { ...variablesOf(unpinned), RCLONE_SFTP_KNOWN_HOSTS_FILE: pinned ?? '' };
    expect(await runHere(['sync', 'verify', '--to', place.to], pinning)).toMatchObject({ code: 0, stderr: '' });
  });
});

/** A program with the name of rclone, which may start the real one. */
function programOf(name: string, script: string): Record<string, string> {
  const path = join(folder, name);
  const rclone = execFileSync('sh', ['-c', 'command -v rclone'], { encoding: 'utf8' }).trim();
  mkdirSync(path);
  writeFileSync(join(path, 'rclone'), `#!/bin/sh\nrclone=${rclone}\n${script}\n`);
  chmodSync(join(path, 'rclone'), 0o755);
  return { PATH: `${path}:${process.env.PATH}` };
}

describe.runIf(withReceivers && suites.includes('rclone'))('rclone', () => {
  test('that is lost in the middle of a file is a failure', async () => {
    const proxy = await startLossyProxy(`tcp://127.0.0.1:${sshd.port}`, 200_000);
    ends.push(() => proxy.close());
    const { port } = new URL(proxy.url);
    const place = sshd.placeOf('lost');
    const known = join(folder, 'lost_hosts');
    writeFileSync(known, readFileSync(sshd.knownHosts, 'utf8').replace(`:${sshd.port} `, `:${port} `));
    const settings = { RCLONE_CONFIG_SFTP_PORT: port, RCLONE_CONFIG_SFTP_KNOWN_HOSTS_FILE: known };
    const lost = { ...place, environment: { ...place.environment, ...settings } };
    await expectFailure(lost, 75, /^Cannot write to rclone:sftp:/);
    await expectComplete(place);
  });

  test('leaves no manifest if the export ends early, and the next run completes', async () => {
    const proxy = await startLossyProxy(service.url);
    ends.push(() => proxy.close());
    for (const server of [localServer(join(folder, 'early')), await during(startS3(join(folder, 's3-early')))]) {
      const place = (server as FileServer).placeOf('files');
      proxy.lose(1_000, 100_000);
      const through = environmentThrough(proxy.url, service, report.credentials, folder);
      const { code, stderr } = await runHere(argsOf(place), { ...through, ...place.environment });
      expect([code === 0, stderr.includes('no token'), manifestsAt(place)]).toEqual([false, false, []]);
      await expectComplete(place);
    }
  });

  test('that only seems to write by a variable of the user writes', async () => {
    const place = localServer(join(folder, 'dry')).placeOf('files');
    await expectComplete({ ...place, environment: { ...place.environment, RCLONE_DRY_RUN: 'true' } });
  });

  test('that is not installed, or without the remote, is wrong use', async () => {
    const place = localServer(join(folder, 'missing')).placeOf('files');
    const environment = { ...place.environment, PATH: '/none' };
    await expectFailure(
      { ...place, environment },
      2,
      /: the program rclone must be installed, .*apt-get install rclone/,
    );
    const other = { ...place, to: 'rclone:none:files' };
    await expectFailure(
      other,
      2,
      /^Cannot use rclone:none:files: it must have a remote that 'rclone listremotes' shows/,
    );
  });

  test('that makes no progress is ended', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ends.push(() => silent.close());
    const { port } = silent.address() as { readonly port: number };
    const options = { environment: { PATH: process.env.PATH ?? '' }, idleMsMax: 500 };
    // on a busy machine, rclone may not even start within that time
    const files = await eventually(() =>
      RcloneFiles.open(`:webdav,url="http://127.0.0.1:${port}",vendor=other:x`, options),
    );
    await expect(files.list()).rejects.toThrow('current value is no progress for 0.5 s');
    await expect(files.write('a/b', [Buffer.from('text')])).rejects.toThrow(
      /Cannot write to rclone::webdav,…: .* no progress for/,
    );
  });
});

describe.runIf(withReceivers && suites.includes('liars'))('rclone', () => {
  const liars: readonly (readonly [string, string, number, RegExp])[] = [
    [
      'ends before its input',
      'head -c 100000 >/dev/null',
      1,
      /^Cannot write to rclone:.*: rclone must store the whole file/,
    ],
    ['stores nothing', 'cat >/dev/null', 75, /^Cannot complete rclone:.*: the whole file must be stored.*is no file$/m],
    [
      'stores a part',
      'head -c 100000 | $rclone "$@"; cat >/dev/null',
      75,
      /^Cannot complete rclone:.*: the whole file must be stored, \d+ bytes: current value is 100000$/m,
    ],
    [
      'fails with escapes and much text',
      `cat >/dev/null; head -c 3000000 /dev/zero | tr '\\0' x >&2; printf '\\n2026/11/26 04:20:47 Failed: \\033[2Jno\\302\\233\\nroom\\n' >&2; exit 1`,
      1,
      /^Cannot write to rclone:.*: current value is Failed: \ufffd\[2Jno\ufffd room$/m,
    ],
    [
      'finds its folder created by another run',
      `cat >/dev/null; echo 'Failed to rcat: Put mkParentDir failed: mkdir "/x/y" failed: sftp: "Failure" (SSH_FX_FAILURE)' >&2; exit 1`,
      75,
      /^Cannot write to rclone:.*: current value is Failed to rcat.*"Failure" \(SSH_FX_FAILURE\)$/m,
    ],
  ];

  test.each(liars)(
    'that %s, although it may say that it succeeded, leaves no manifest',
    async (name, script, code, sentence) => {
      const environment = programOf(name, `case "$*" in *rcat*) ${script};; *) exec $rclone "$@";; esac`);
      const place = localServer(join(folder, 'liars')).placeOf(name.replaceAll(' ', '-'));
      await expectFailure({ ...place, environment: { ...place.environment, ...environment } }, code, sentence);
      await expectComplete(place);
    },
  );
});

describe.runIf(withReceivers)('rclone', () => {
  test.each([
    ['as they are', 'pass=hidden'],
    ['escaped', 'url="http://127.0.0.1:9",pass="hidden,hidden"'],
    ['cut short', `pass=${'hidden'.repeat(100)}`],
    ['escaped and cut short', `url="http://127.0.0.1:9",pass="${'hidden"",'.repeat(100)}"`],
  ])('that says the parameters of a remote %s reveals none of them', async (_how, parameters) => {
    const environment = { PATH: process.env.PATH ?? '', RCLONE_CONFIG: '/dev/null' };
    const files = await RcloneFiles.open(`:none,${parameters}:x`, { environment });
    for (const work of [() => files.list(), () => files.write('a', [Buffer.from('text')])]) {
      const { message } = await work().then(
        () => new Error('none'),
        (error: Error) => error,
      );
      expect(message).toContain('rclone::none,…: ');
      expect(message).toContain('current value is Failed to create file system for ":none,…"');
      expect(message).not.toContain('hidden');
    }
  });

  test('gets no secret of the service', async () => {
    const seen = join(folder, 'seen');
    const environment = programOf('environment', `env >>${seen}; exec $rclone "$@"`);
    const place = localServer(join(folder, 'secrets')).placeOf('files');
    await runHere(argsOf(place), { ...variablesOf(place), ...environment });
    expect(readFileSync(seen, 'utf8')).toContain('RCLONE_CONFIG_DISK_TYPE');
    expect(readFileSync(seen, 'utf8')).not.toContain(report.credentials.client_secret);
  });
});
