import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { commandEnvironment, mainProgram } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';

const { folder, service } = await startBesideFolder('lost');
let report: ChangingReport;
let count = 0;
beforeEach(async () => {
  count += 1;
  report = await createChangingReport(service, `tenant-${count}`, count);
  await report.load(rows);
});

const rows = Array.from({ length: 900 }, (_, n) => subscriptionRow({ id: `id_${n}`, createdDate: 1_700_000_000 - n }));

const environment = () => environmentOf(service, report.credentials);
const state = () => join(folder, `state-${count}`);

/** Runs a command whose output is not taken, or only its first 100 KiB. */
async function runInto(sink: 'full disk' | 'closed pipe' | 'full file', args: readonly string[]) {
  const full = sink === 'full disk' ? openSync('/dev/full', 'w') : undefined;
  const command = `ulimit -f 100; exec "$0" "$@" > "${state()}.out"`;
  const program = sink === 'full file' ? ['bash', '-c', command, process.execPath] : [process.execPath];
  const [file = '', ...words] = [...program, mainProgram, ...args];
  const child = spawn(file, words, {
    env: { ...commandEnvironment, ...environment() },
    stdio: ['ignore', full ?? 'pipe', 'pipe'],
  });
  child.stdout?.destroy();
  if (full !== undefined) closeSync(full);
  const [stderr, [code]] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

const idsOf = (ndjson: string): string[] =>
  ndjson
    .split('\n')
    .filter((line) => line.startsWith('{"id":'))
    .map((line) => JSON.parse(line).id);

describe.runIf(process.platform === 'linux')('the position of a sync', () => {
  const args = () => ['sync', '--to', 'stdout:ndjson', '--state', state()];
  const ids = async () => idsOf((await runHere(args(), environment())).stdout);

  test.each(['full disk', 'closed pipe'] as const)('stays where it was if its lines go to a %s', async (sink) => {
    await runInto(sink, args());
    expect(await ids()).toHaveLength(900);
    await report.load([subscriptionRow({ id: 'later' })]);
    const { code, stderr } = await runInto(sink, args());
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot write the result: .*\n$/)]);
    expect(await ids()).toEqual(['later']);
    expect(await ids()).toEqual([]);
  });

  test('stays where it was if a file has room for a part of its lines', async () => {
    expect((await runInto('full file', args())).code).toBe(1);
    expect(await ids()).toHaveLength(900);
  });
});

// unshare gives the test a mount of its own, without the rights of root
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

describe.runIf(canMount)('a disk without room', () => {
  test.each([
    ['a copy in SQLite', ['--to', 'sqlite:/mnt/copy.db'], 'Cannot use sqlite:/mnt/copy.db'],
    ['a folder of files', ['--to', 'dir:/mnt'], 'Cannot use dir:/mnt'],
    ['the state of a stream', ['--to', 'stdout:ndjson', '--state', '/mnt/s.db'], "Cannot continue from '/mnt/s.db'"],
    [
      'the state of a webhook',
      ['--to', 'webhook:http://127.0.0.1:9/', '--state', '/mnt/w.db'],
      "Cannot use '/mnt/w.db'",
    ],
  ])('for %s ends a sync with 1, and is named', async (_what, args, named) => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`);
    const more = args[1]?.startsWith('webhook:') ? ['--secret-file', secret] : [];
    const command = 'mount -t tmpfs -o size=8k tmpfs /mnt && exec "$0" "$@"';
    const words = ['sync', ...args, ...more];
    const child = spawn('unshare', ['-rm', 'sh', '-c', command, process.execPath, mainProgram, ...words], {
      env: { ...commandEnvironment, ...environment() },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/: it(s disk)? must have room/)]);
    expect(stderr.slice(0, named.length)).toBe(named);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});

describe.runIf(canMount)('the folder of the profiles', () => {
  /** Runs lines of a shell, in which SUBREPORT is the program and /mnt an empty disk of 40 KiB. */
  async function inShell(...lines: readonly string[]) {
    const mount = 'mount -t tmpfs -o size=40k tmpfs /mnt; SUBREPORT="$0 $1"; export XDG_CONFIG_HOME=/mnt';
    const words = ['-rm', 'sh', '-c', [mount, ...lines].join('; '), process.execPath, mainProgram];
    const { client_id, client_secret } = report.credentials;
    writeFileSync(join(folder, 'client.json'), JSON.stringify({ client_id, client_secret }));
    const child = spawn('unshare', words, { env: commandEnvironment, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { stdout, stderr };
  }
  const login = () => `$SUBREPORT login --url ${service.url} --credentials ${folder}/client.json`;
  const fill = 'dd if=/dev/zero of=/mnt/fill bs=4k 2> /dev/null';

  test('keeps a profile that login cannot replace, which still reads, and can be removed, on a full disk', async () => {
    const list = '$SUBREPORT list --size 1 -o csv -q | wc -l';
    const { stdout, stderr } = await inShell(
      ...[`${login()} > /dev/null`, fill, login(), 'echo login $?', list, '$SUBREPORT logout', 'find /mnt -type f'],
    );
    expect(stdout).toBe("login 1\n2\nRemoved profile 'default'\n/mnt/fill\n");
    expect(stderr).toBe("Cannot write '/mnt/subreport/profiles/default.json': its disk must have room (ENOSPC)\n");
  });

  test('need not be writable to read reports', async () => {
    const { stdout, stderr } = await inShell(
      ...[`${login()} > /dev/null`, 'mount -o remount,ro /mnt', '$SUBREPORT list --size 1 -o csv -q | wc -l'],
      ...['$SUBREPORT logout', 'echo logout $?'],
    );
    expect([stdout, stderr]).toEqual([
      '2\nlogout 1\n',
      "Cannot remove '/mnt/subreport/profiles/default.json': it must be a file that this user can remove (EROFS)\n",
    ]);
  });
});
