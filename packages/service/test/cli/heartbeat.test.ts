import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { type RunningCommand, startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';

const script = fileURLToPath(new URL('../../../../test/support/impatient-workers.ts', import.meta.url));
/** Longer than a busy machine lets a worker wait for its turn. */
const silenceMs = 5_000;
let folder: string;
let url: string;
let command: RunningCommand;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-heartbeat-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const environment = { DATA_DIR: join(folder, 'data'), PORT: String(port) };
  command = startCommand([String(silenceMs)], { environment, program: [process.execPath, script] });
  await untilWritten(command, '"serving"');
});
afterEach(async () => {
  command.child.kill('SIGKILL');
  for (const pid of workerPids()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it exited with the primary process
    }
  }
  await command.ended;
  rmSync(folder, { recursive: true });
});

const log = (): Record<string, unknown>[] =>
  command
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const workerPids = (): number[] =>
  log()
    .filter(({ msg }) => String(msg).startsWith('listening at '))
    .map(({ pid }) => Number(pid));

test('a worker whose event loop is blocked is killed, replaced and logged', async () => {
  const [hung = 0] = workerPids();
  process.kill(hung, 'SIGSTOP');
  await eventually(() => expect(workerPids()).toHaveLength(3));
  const line = { level: 'error', pid: hung, msg: 'a worker no longer responds; it is killed' };
  expect(log()).toContainEqual(expect.objectContaining(line));
  for (let n = 0; n < 10; n += 1) {
    const response = await fetch(`${url}/healthz`, { headers: { connection: 'close' } });
    expect(response.status).toBe(200);
  }
});

test('a pause of the primary process does not count against its workers', async () => {
  command.child.kill('SIGSTOP');
  await sleep(2 * silenceMs);
  command.child.kill('SIGCONT');
  await sleep(silenceMs);
  expect(command.stdout()).not.toContain('it is killed');
  expect(workerPids()).toHaveLength(2);
});
