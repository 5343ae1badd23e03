import { afterEach, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { type RunningCommand, startCommand } from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';

let running: RunningCommand | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});

test.each([{ line: 'serve' }, { line: 'serve --workers 2' }])(
  '$line survives 700 requests of long made-up client ids in 48 MiB of memory',
  async ({ line }) => {
    const opened = await engines[0].openTestStore();
    const port = await freePort();
    const environment = {
      ...opened.environment,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: '--max-old-space-size=48',
    };
    running = startCommand(line.split(' '), { environment });
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status).toBe(200);
    const guess = (n: number) =>
      fetch(`${url}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: `${n}`.padEnd(60_000, 'x'),
          client_secret: 'x',
        }),
      });
    for (let n = 0; n < 704; n += 8) {
      const answers = await Promise.all(Array.from({ length: 8 }, (_, more) => guess(n + more)));
      for (const { status } of answers) expect(status).toBe(401);
    }
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(running.stdout()).not.toContain('a worker exited');
    await opened.close();
  },
);
