import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifySnapshot } from '../../src/sync/run-snapshot.ts';
import { freePort } from '../../tools/free-port.ts';
import { type Fault, type ProxiedRequest, startFaultyProxy } from '../client/faulty-proxy.ts';
import { engines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { subscriptionRow } from '../support/rows.ts';
import { runCommand } from '../support/run-command.ts';
import { runHere } from '../support/run-here.ts';
import { startService, type TestService } from '../support/service.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import {
  filesOf,
  hasSshd,
  namesAt,
  type Place,
  s3Place,
  startCuttingProxy,
  startPasswordServer,
  startS3,
  startSshd,
  uploadsOf,
} from './file-servers.ts';

// What goes wrong at the receivers of files. Each failed run ends with a sentence and an exit code,
// and leaves no manifest; the next run completes, and removes what was left.
// `FILE_FAULTS=all` loses the response to each request to S3, not only to those with a consequence.

let folder: string;
let service: TestService;
let report: ChangingReport;
let s3: Awaited<ReturnType<typeof startS3>>;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-faults-'));
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'faults', 1);
  // NDJSON of 9 MB: two parts of S3
  await report.load(
    Array.from({ length: 30_000 }, (_, n) => subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n })),
  );
  s3 = await startS3(join(folder, 's3'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  await s3.stop();
  await service.close();
  rmSync(folder, { recursive: true });
});

const argsOf = ({ to, options }: Place): string[] => [
  ...[
    'sync',
    '--to',
    to,
    ...options,
    '--retry-seconds',
    '0',
    '--format',
    'ndjson',
    '--scheduled-for',
    '2026-11-23T03:00:00Z',
  ],
];
const variablesOf = (place: Place) => ({ ...environmentOf(service, report.credentials), ...place.environment });

const noRoom = 'have room for the files, and stay available until the end';

/** Runs, and expects an exit code and a sentence with the place, the rule and what was found. */
async function expectFailure(place: Place, code: number, rule: string, found: RegExp): Promise<void> {
  // a process of its own: the next run finds that it has ended
  const result = await runCommand(argsOf(place), { environment: variablesOf(place) });
  expect([result.code, result.stdout]).toEqual([code, '']);
  expect(result.stderr).toMatch(new RegExp(`^Cannot use .*: it must ${rule}.*: current value is ${found.source}\n$`));
  expect(result.stderr).toContain(place.to.replace(/\?.*/, ''));
  expect(namesAt(place)).not.toContain('manifest.json');
}

/** Runs, and expects the whole report and nothing else. */
async function expectComplete(place: Place): Promise<void> {
  const { code, stderr } = await runHere(argsOf(place), variablesOf(place));
  expect([stderr, code]).toEqual(['', 0]);
  const { isEqual, manifest } = await verifySnapshot(await filesOf(place));
  expect([isEqual, manifest.sha256]).toEqual([true, await report.digest()]);
  expect(namesAt(place)).toEqual(['manifest.json', manifest.file]);
}

const local = (name: string): Place => {
  mkdirSync(join(folder, name));
  return { to: `dir:${join(folder, name)}`, options: [], environment: {}, folder: join(folder, name) };
};

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('a disk that is full', () => {
  /** A file system of 4 MiB at a folder; returns a function that makes room. */
  function mountSmallDisk(at: string): () => void {
    mkdirSync(at);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0755', 'subreport-test', at]);
    ends.push(() => execFileSync('umount', ['--lazy', at]));
    return () => execFileSync('mount', ['-o', 'remount,size=64m', at]);
  }

  test('under a folder is a failure, and the next run completes once there is room', async () => {
    const makeRoom = mountSmallDisk(join(folder, 'full-dir'));
    const place = local('full-dir/exports');
    await expectFailure(place, 1, noRoom, /ENOSPC/);
    expect(namesAt(place)).toEqual([]);
    makeRoom();
    await expectComplete(place);
  });

  test.runIf(hasSshd())('at an SFTP server is a failure, and the next run completes once there is room', async () => {
    const makeRoom = mountSmallDisk(join(folder, 'full-sftp'));
    const sshd = await startSshd(join(folder, 'full-sftp'));
    ends.push(() => sshd.stop());
    const place = sshd.placeOf('exports');
    await expectFailure(place, 75, noRoom, /a failed request, as with a full disk/);
    expect(namesAt(place)).toEqual([]);
    makeRoom();
    await expectComplete(place);
  });

  test('at a server of S3, which ends by it, is a failure, and the next run completes once there is room', async () => {
    const disk = join(folder, 'full-s3');
    const makeRoom = mountSmallDisk(disk);
    const port = await freePort();
    const start = async () => {
      const program = fileURLToPath(new URL('../../node_modules/s3rver/bin/s3rver.js', import.meta.url));
      const args = [program, '-d', disk, '-a', '127.0.0.1', '-p', String(port), '--configure-bucket', 'exports'];
      const child = spawn(process.execPath, args, { stdio: 'ignore' });
      ends.push(() => child.kill());
      await eventually(() => fetch(`http://127.0.0.1:${port}`));
      return once(child, 'exit');
    };
    const crash = start();
    await eventually(() => fetch(`http://127.0.0.1:${port}`));
    const place = s3Place(`http://127.0.0.1:${port}`, disk, 'files');
    await expectFailure(place, 75, 'take the whole file, and stay available until the end', /.*(ECONN|other side).*/);
    await crash;
    makeRoom();
    void start();
    await eventually(() => fetch(`http://127.0.0.1:${port}`));
    await expectComplete(place);
  });
});

describe('S3', () => {
  const available = 'take the whole file, and stay available until the end';
  const usable = 'be a bucket that exists, in the region of the request, and the credentials must be valid for it';

  /** A place behind a proxy, and the same without it. */
  async function behindProxy(name: string, choose: (request: ProxiedRequest) => Fault | undefined) {
    const proxy = await startFaultyProxy(s3.url, choose);
    ends.push(() => proxy.close());
    const direct = s3.placeOf(name);
    const environment = { ...direct.environment, AWS_ENDPOINT_URL: proxy.url };
    return { proxy, direct, place: { ...direct, environment } };
  }

  const uploads = (): string[] => {
    const at = uploadsOf(join(folder, 's3'));
    return existsSync(at) ? readdirSync(at) : [];
  };

  test('that is lost in the middle of an upload is a failure, and the next run aborts the upload', async () => {
    let isLost = false;
    const { place, direct } = await behindProxy('lost', ({ path }) => {
      isLost ||= path.includes('partNumber=2');
      return isLost ? 'reset' : undefined;
    });
    await expectFailure(place, 75, available, /.*(ECONNRESET|other side closed).*/);
    expect(uploads()).toHaveLength(1);
    await expectComplete(direct);
    expect(uploads()).toEqual([]);
  });

  const failures: readonly [string, RegExp, number, string][] = [
    ['to take a part', /^PUT \S+partNumber=2/, 507, '507 StorageFull: No space left'],
    // S3 sends the status before it joins the parts
    ['to join the parts', /^POST \S+uploadId=/, 200, 'StorageFull: No space left'],
  ];

  test.each(failures)('that fails %s is a failure, and nothing is left', async (_what, request, status, found) => {
    const body = '<Error><Code>StorageFull</Code><Message>No space left</Message></Error>';
    const { place, direct } = await behindProxy(`failing-${status}`, ({ method, path }) =>
      request.test(`${method} ${path}`) ? { status, body } : undefined,
    );
    await expectFailure(place, 75, available, new RegExp(found));
    expect([namesAt(place), uploads()]).toEqual([[], []]);
    await expectComplete(direct);
  });

  test('that refuses a file is wrong use, and check finds it', async () => {
    const body = '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
    const { place, direct } = await behindProxy('refused', ({ method, path }) =>
      method === 'GET' || path.includes('.lock') ? undefined : { status: 403, body },
    );
    await expectFailure(place, 2, usable, /403 AccessDenied: Access Denied/);
    const check = ['sync', 'check', '--to', place.to];
    const checked = await runHere(check, variablesOf(place));
    expect([checked.code, checked.stderr]).toEqual([2, expect.stringContaining('current value is 403 AccessDenied')]);
    await expectComplete(direct);
    const files = namesAt(direct);
    expect((await runHere(check, variablesOf(direct))).code).toBe(0);
    expect([namesAt(direct), uploads()]).toEqual([files, []]);
  });

  test('without the bucket, or in another region, is wrong use', async () => {
    const place = s3.placeOf('missing');
    const other = { ...place, to: 's3://exported/files' };
    await expectFailure(other, 2, usable, /404 NoSuchBucket: The specified bucket does not exist/);
    const body = '<Error><Code>PermanentRedirect</Code><Message>Use the endpoint of the region</Message></Error>';
    const moved = await behindProxy('moved', () => ({ status: 301, body }));
    await expectFailure(moved.place, 2, usable, /301 PermanentRedirect: Use the endpoint of the region/);
  });

  const requests: Readonly<Record<string, RegExp>> = {
    'the lock': /^PUT \S+lock$/,
    'the begin of an upload': /^POST \S+uploads=$/,
    'the completion of an upload': /^POST \S+uploadId=/,
    'the manifest': /^PUT \S+manifest\.json$/,
  };

  test.each(Object.keys(requests))('that loses its response to %s once has one whole file', async (name) => {
    const isIt = ({ method, path }: ProxiedRequest) => requests[name]?.test(`${method} ${path}`) === true;
    expect(await completeWithLoss(name, isIt)).toBe(true);
  });

  test.runIf(process.env.FILE_FAULTS === 'all')('that loses any one response has one whole file', async () => {
    let lost = 0;
    for (let isLost = true; isLost; lost += Number(isLost)) {
      let count = 0;
      isLost = await completeWithLoss(`any-${lost}`, () => count++ === lost);
    }
    process.stdout.write(`S3: ${lost} responses were lost, each in a run of its own\n`);
    expect(lost).toBeGreaterThan(12);
  });

  /** Expects a complete run without the response to a request. Returns whether there was one. */
  async function completeWithLoss(name: string, isIt: (request: ProxiedRequest) => boolean): Promise<boolean> {
    let isLost = false;
    const { place } = await behindProxy(`without-${name.replaceAll(' ', '-')}`, (request) => {
      if (isLost || !isIt(request)) return undefined;
      isLost = true;
      return 'lose';
    });
    await expectComplete(place);
    expect(uploads()).toEqual([]);
    return isLost;
  }
});

describe.runIf(hasSshd())('an SFTP server', () => {
  const usable = 'be a directory that exists, and that the user can list and write';
  let sshd: Awaited<ReturnType<typeof startSshd>>;
  beforeAll(async () => {
    sshd = await startSshd(join(folder, 'sshd'));
  });
  afterAll(() => sshd.stop());

  test('that is lost in the middle of an upload is a failure, and the next run removes its part', async () => {
    const proxy = await startCuttingProxy(sshd.port, 5_000_000);
    ends.push(proxy.stop);
    const direct = sshd.placeOf('lost');
    const place = { ...direct, to: direct.to.replace(`:${sshd.port}`, `:${proxy.port}`) };
    await expectFailure(place, 75, noRoom, /.+/);
    expect(namesAt(direct)).toEqual([
      '.subreport-sync.lock',
      expect.stringMatching(/^subscriptions-.*\.ndjson\.part$/),
    ]);
    await expectComplete(direct);
  });

  test('that is read-only, without the directory, or with another user key is wrong use', async () => {
    const readOnly = await startSshd(join(folder, 'read-only'), 'internal-sftp -R');
    ends.push(() => readOnly.stop());
    await expectFailure(readOnly.placeOf('files'), 2, usable, /Permission denied/);
    const place = sshd.placeOf('files');
    await expectFailure({ ...place, to: `${place.to}/none` }, 2, usable, /no directory/);
    const [pin = '', fingerprint = '', flag = ''] = place.options;
    const other = { ...place, options: [pin, fingerprint, flag, join(folder, 'read-only', 'user')] };
    await expectFailure(other, 2, usable, /a user whose key or password the server refuses/);
    expect(namesAt(place)).toEqual([]);
  });

  test('takes the password of SUBREPORT_SFTP_PASSWORD or of a file, and refuses another one', async () => {
    const server = await startPasswordServer('correct horse');
    ends.push(server.stop);
    const { folder: at } = local('password');
    const to = `sftp://anyone@127.0.0.1:${server.port}${at}`;
    const pinned = ['--host-key', server.fingerprint];
    const place: Place = { to, options: pinned, environment: { SUBREPORT_SFTP_PASSWORD: 'wrong' }, folder: at };
    await expectFailure(place, 2, usable, /a user whose key or password the server refuses/);
    await expectComplete({ ...place, environment: { SUBREPORT_SFTP_PASSWORD: 'correct horse' } });
    writeFileSync(join(folder, 'secret'), 'correct horse\n');
    const withFile = { ...place, options: [...pinned, '--secret-file', join(folder, 'secret')] };
    const again = await runHere(argsOf(withFile), environmentOf(service, report.credentials));
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('was complete before')]);
  });
});
