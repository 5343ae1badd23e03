import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { commandEnvironment, mainProgram } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';

/** More lines than the log buffers: each is about 500 bytes. */
const requests = 4_000;
let folder: string;
let port: number;
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-log-'));
  port = await freePort();
});
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

/** Starts a service whose standard output is not read yet, and waits until it responds. */
async function startService(stdout: 'pipe' | number): Promise<ChildProcess> {
  const environment = { ...commandEnvironment, DATA_DIR: join(folder, 'data'), PORT: `${port}` };
  child = spawn(process.execPath, [mainProgram, 'serve'], { env: environment, stdio: ['ignore', stdout, 'ignore'] });
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200));
  return child;
}

/** Sends many requests over one connection and waits for all responses. */
async function sendMany(): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const request = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Correlation-ID: ${'x'.repeat(256)}\r\n`;
  let responses = 0;
  const ended = once(socket, 'close');
  socket.on('data', (chunk: Buffer) => {
    responses += chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
  });
  for (let n = 1; n < requests; n += 1) socket.write(`${request}\r\n`);
  socket.write(`${request}Connection: close\r\n\r\n`);
  await ended;
  // a status line may be split between two chunks
  expect(responses).toBeGreaterThan(requests * 0.95);
}

async function endOf(running: ChildProcess): Promise<number | null> {
  running.kill('SIGTERM');
  const [code] = (await once(running, 'exit')) as [number | null];
  return code;
}

test('a service whose log is never read keeps running, and SIGTERM stops it with 0', async () => {
  const running = await startService('pipe');
  await sendMany();
  expect(await endOf(running)).toBe(0);
});

test.runIf(process.platform === 'linux')(
  'a service whose log is on a full disk keeps running, and SIGTERM stops it with 0',
  async () => {
    const running = await startService(openSync('/dev/full', 'w'));
    await sendMany();
    expect(await endOf(running)).toBe(0);
  },
);

test('a log that is read late has every line, or reports how many were dropped', async () => {
  const running = await startService('pipe');
  await sendMany();
  const lines: { msg?: string; dropped?: number; correlation_id?: string }[] = [];
  let rest = '';
  running.stdout?.on('data', (chunk: Buffer) => {
    const [last = '', ...others] = (rest + chunk).split('\n').toReversed();
    rest = last;
    lines.push(...others.toReversed().map((line) => JSON.parse(line)));
  });
  await eventually(() => expect(lines.some(({ dropped }) => dropped !== undefined)).toBe(true));
  const written = lines.filter(({ correlation_id: id }) => id?.startsWith('xxx')).length;
  const dropped = lines.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
  expect([written + dropped, dropped > 0]).toEqual([requests, true]);
  expect(await endOf(running)).toBe(0);
});
