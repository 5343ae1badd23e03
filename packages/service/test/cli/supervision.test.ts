import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import {
  type FilledStore,
  fetchOnce,
  fill,
  isAlive,
  serveWithWorkers,
  started,
  stopAll,
  stopUnderLoad,
} from '../../../../test/support/workers.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { fixedLimits } from '../../cli/settings/fixed-limits.ts';
import { directoryStatement } from '../../storage/store.ts';

const now = (): number => Math.floor(Date.now() / 1000);
const errorMessage = /^Cannot [^\n]+\n$/;

// On both engines, the same code supervises processes, counts for limits and refuses to start.
describe('serve --workers', () => {
  let opened: FilledStore;

  beforeAll(async () => {
    opened = await fill(await openSqlite());
  });
  afterEach(stopAll);
  afterAll(() => opened.close());

  test('limits hold for all workers together, however connections are distributed', async () => {
    const workers = await serveWithWorkers(opened, { RATE_LIMIT_PER_MINUTE: '30' });
    const headers = { authorization: `Bearer ${await workers.token()}` };
    const responses = await Promise.all(Array.from({ length: 60 }, () => fetchOnce(workers.reportUrl, headers)));
    const accepted = responses.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(30);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(30);
    const remaining = accepted.map(({ headers: { ratelimit } }) => Number(/;r=(\d+)/.exec(String(ratelimit))?.[1]));
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    const { tokenFailuresPerMinute: failuresMax } = fixedLimits;
    const guesses: number[] = [];
    const chosen = await createClient(opened.store, now(), { tenant: opened.tenant, secret: 'correct horse battery' });
    for (let attempt = 0; attempt < failuresMax + 5; attempt += 1) {
      const form = { grant_type: 'client_credentials', ...chosen, client_secret: 'guess' };
      const guess = { method: 'POST', body: new URLSearchParams(form), headers: { connection: 'close' } };
      guesses.push((await fetch(`${workers.url}/oauth2/token`, guess)).status);
    }
    expect(guesses).toEqual([...Array(failuresMax).fill(401), ...Array(5).fill(429)]);
    await eventually(() => {
      const limited = workers.log().filter(({ status }) => status === 429);
      expect(new Set(limited.map(({ pid }) => pid)).size).toBe(2);
    });
  });

  test('a worker that was sent SIGTERM is replaced while it finishes its requests', async () => {
    const workers = await serveWithWorkers(opened, { SHUTDOWN_DELAY_SECONDS: '60' });
    const [stopping = 0] = workers.pids();
    process.kill(stopping, 'SIGTERM');
    await eventually(() => expect(workers.pids()).toHaveLength(3));
    expect(isAlive(stopping)).toBe(true);
  });

  test('kill -9 of all workers at once: all are replaced, and counted once they serve', async () => {
    const MANAGEMENT_PORT = String(await freePort());
    const workers = await serveWithWorkers(opened, { MANAGEMENT_PORT });
    const replaced = async () => {
      const { body } = await fetchOnce(`http://127.0.0.1:${MANAGEMENT_PORT}/metrics`);
      return /^subreport_workers_replaced_total (\d+)$/m.exec(String(body))?.[1];
    };
    expect(await replaced()).toBe('0');
    for (const pid of workers.pids()) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(workers.pids()).toHaveLength(4));
    expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe(200);
    await eventually(async () => expect(await replaced()).toBe('2'));
    // no worker can start while the store is of a newer version
    const newer = "insert into schema_migration values ('9999-newer', '', '9999-newer')";
    await opened.store.writeDirectory([directoryStatement(newer as 'select 1')]);
    process.kill(workers.pids().find(isAlive) ?? 0, 'SIGKILL');
    await eventually(() => expect(JSON.stringify(workers.log())).toContain('a worker could not be started'));
    const older = "delete from schema_migration where name = '9999-newer'";
    await opened.store.writeDirectory([directoryStatement(older as 'select 1')]);
    await eventually(() => expect(workers.pids()).toHaveLength(5));
    await eventually(async () => expect(await replaced()).toBe('3'));
  });

  test('SIGINT under load: each request gets its response, then the process exits with 0', async () =>
    stopUnderLoad(await serveWithWorkers(opened), 'SIGINT'));

  test('a second signal kills all processes at once', async () => {
    const workers = await serveWithWorkers(opened, { SHUTDOWN_DELAY_SECONDS: '60' });
    workers.command.child.kill('SIGTERM');
    await untilWritten(workers.command, '"stopping"');
    await eventually(async () => expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe(503));
    workers.command.child.kill('SIGTERM');
    expect((await workers.command.ended).code).toBe(1);
    await eventually(() => expect(workers.pids().filter(isAlive)).toEqual([]));
  });

  test('a killed primary process takes its workers with it', async () => {
    const workers = await serveWithWorkers(opened);
    const pids = workers.pids();
    expect(pids.filter(isAlive)).toHaveLength(2);
    workers.command.child.kill('SIGKILL');
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
    expect((await fetchOnce(`${workers.url}/readyz`)).status).toBe('ECONNREFUSED');
  });

  describe('starting workers fails with one message, exit code 1 and no stack for', () => {
    const failure = async (more: Record<string, string>): Promise<string> => {
      const command = startCommand(['serve', '--workers', '2'], { environment: { ...opened.environment, ...more } });
      started.push(command);
      const { code, stderr, stdout } = await command.ended;
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
      expect(stdout).not.toContain('"serving"');
      return stderr;
    };

    test('a port in use', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      expect(await failure({ PORT: String(port) })).toContain(`127.0.0.1:${port}: the port must be free`);
      server.close();
    });

    test('a port shared by the workers of another command', async () => {
      const { url } = await serveWithWorkers(opened);
      const { port } = new URL(url);
      expect(await failure({ PORT: port })).toContain(`127.0.0.1:${port}: the port must be free`);
    });
  });
});

describe('the option --workers', () => {
  test.each(['0', '65', '-1', '1.5', 'many', ''])('%j is wrong use', async (value) => {
    const { code, stdout, stderr } = await runHere(['serve', '--workers', value]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`argument '${value}' is invalid. It must be an integer from 1 to 64, or auto, such as 4`);
  });
});
