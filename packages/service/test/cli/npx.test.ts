import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { eventually, startMsMax } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { commandEnvironment } from '../../../../test/support/run-command.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const launcher = join(root, 'packages/service/cli/subreport.mjs');

/** A command, and the processes that write to its output. */
interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Whether every process has ended that writes to its output. */
  readonly isOver: () => boolean;
}

/** Starts a program in the repository; its standard input stays open. */
function start([program, ...args]: readonly [string, ...string[]], environment: Record<string, string>): Running {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...commandEnvironment, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  let isClosed = false;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  child.on('close', () => {
    isClosed = true;
  });
  return { child, output: () => text, isOver: () => isClosed };
}

// On Windows, npm waits for what it started.
describe.skipIf(process.platform === 'win32')('a command that npx or npm started', () => {
  let folder: string;
  let service: TestService;
  let reader: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-npx-'));
    service = await startService(await engines[0].openTestStore());
    const tenant = await service.createTenant('acme');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a-record' })]);
    const { client_id, client_secret } = await service.createClient(tenant);
    reader = {
      XDG_CONFIG_HOME: folder,
      SUBREPORT_URL: service.url,
      SUBREPORT_CLIENT_ID: client_id,
      SUBREPORT_CLIENT_SECRET: client_secret,
    };
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });
  const serving = async () => ({ DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) });

  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  test.each([
    { command: 'subreport serve', environment: serving, ready: '"serving"' },
    { command: 'subreport changes --follow', environment: async () => reader, ready: 'a-record' },
    {
      command: '@subreport/mcp',
      environment: async () => reader,
      ready: '"result"',
      input: `${JSON.stringify(initialize)}\n`,
    },
  ])('ends by SIGTERM to npx alone: $command', async ({ command, environment, ready, input = '' }) => {
    // npx keeps links to the program, which may be those of an earlier version
    const cache = { npm_config_cache: join(folder, 'npm') };
    const running = start(['npx', ...command.split(' ')], { ...cache, ...(await environment()) });
    running.child.stdin?.write(input);
    await eventually(() => expect(running.output()).toContain(ready), startMsMax);
    running.child.kill('SIGTERM');
    await eventually(() => expect(running.isOver()).toBe(true));
    if (command === 'subreport serve') expect(running.output()).toContain('"msg":"stopped"');
  });

  test.each([
    { how: 'without npm', script: '' },
    { how: 'by another program that npx started', script: "'deploy' production" },
    { how: 'in the background of a script', script: 'subreport serve & sleep 1' },
  ])('outlives the shell that started it $how', async ({ script }) => {
    const { PORT, ...environment } = await serving();
    const own = { ...environment, PORT, ...(script !== '' && { npm_lifecycle_script: script }) };
    const shell = start(['sh', '-c', `"${process.execPath}" "${launcher}" serve & echo "pid:$!"`], own);
    await eventually(() => expect(shell.output()).toContain('"serving"'), startMsMax);
    expect(shell.child.exitCode).toBe(0);
    await sleep(1_500); // longer than a parent is not looked for
    expect((await fetch(`http://127.0.0.1:${PORT}/healthz`)).status).toBe(200);
    process.kill(Number(/pid:(\d+)/.exec(shell.output())?.[1]), 'SIGTERM');
    await eventually(() => expect(shell.isOver()).toBe(true));
  });
});
