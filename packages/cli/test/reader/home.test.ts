import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService } from '../../../../test/support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-home-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('without arguments on a terminal, a profile says who it is and what the report has, in four lines', async () => {
  const service = await startService(await engines[0].openTestStore());
  try {
    const tenant = await service.createTenant('acme');
    const client = await service.createClient(tenant);
    const day = 86_400;
    const now = Math.floor(Date.now() / 1000);
    const rowOf = (n: number) =>
      subscriptionRow({
        id: `id_${n}`,
        status: n < 3 ? 'ACTIVE' : null,
        expirationDate: now + (n < 3 ? 3 : 30) * day,
        autoRenew: n === 0 ? 'false' : 'true',
      });
    await service.store.loadSubscriptions(tenant, [0, 1, 2, 3].map(rowOf));
    const environment = {
      SUBREPORT_URL: service.url,
      SUBREPORT_CLIENT_ID: client.client_id,
      SUBREPORT_CLIENT_SECRET: client.client_secret,
      XDG_CONFIG_HOME: folder,
    };
    const { code, stdout } = await runHere([], environment, '', { isTTY: true });
    expect([code, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [
        `${client.client_id} at ${service.url}/connect-api`,
        '4 subscriptions, 3 ACTIVE, 1 without a status',
        '3 end within 7 days, 1 of them without renewal',
        expect.stringMatching(
          /^4 added, 0 changed, 0 removed since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, when the history begins$/,
        ),
      ],
    ]);
    const others = [
      await runHere([], environment),
      await runHere([], { XDG_CONFIG_HOME: folder }, '', { isTTY: true }),
      await runHere(['--help'], environment, '', { isTTY: true }),
    ];
    for (const { stdout: out, stderr } of others) expect(out + stderr).toContain('Usage: subreport');
    const down = await runHere([], { ...environment, SUBREPORT_URL: 'http://127.0.0.1:9' }, '', { isTTY: true });
    expect([down.code, down.stdout]).toEqual([expect.any(Number), '']);
    expect(down.code).not.toBe(0);
  } finally {
    await service.close();
  }
});
