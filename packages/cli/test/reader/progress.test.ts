import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { mainProgram, runCommand } from '../../../../test/support/run-command.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { syntheticRows } from '../../../service/import/synthetic-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-progress-'));
const fileOf = (name: string): string => join(folder, name);
let service: TestService;
let environment: Record<string, string>;

beforeAll(async () => {
  const opened = await engines[0].openTestStore();
  service = await startService(opened);
  const tenant = await service.createTenant('acme');
  await service.createTenant('other');
  const { client_id, client_secret } = await service.createClient(tenant);
  environment = {
    ...opened.environment,
    SUBREPORT_URL: service.url,
    SUBREPORT_CLIENT_ID: client_id,
    SUBREPORT_CLIENT_SECRET: client_secret,
    XDG_CONFIG_HOME: folder,
  };
  await service.store.loadSubscriptions(
    tenant,
    [0, 1, 2, 3].map((n) => subscriptionRow({ id: `id_${n}` })),
  );
  const four = [...syntheticRows({ count: 4, seed: 5, until: 1_780_000_000 })];
  writeFileSync(fileOf('four.ndjson'), four.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Its standard error is a terminal, and a second passes between two updates: each is drawn. */
const onSlowTerminal = 'let ms = 0; performance.now = () => (ms += 1000); process.stderr.isTTY = true';
const program = [process.execPath, '--import', `data:text/javascript,${onSlowTerminal}`, mainProgram] as const;

test.each([
  ['export to a file', ['export', fileOf('all.ndjson')]],
  ['sync to a table', ['sync', '--to', `sqlite:${fileOf('copy.db')}`]],
  ['import', ['import', fileOf('four.ndjson'), '--tenant', 'other']],
])('the progress of %s is the number of records', async (_what, args) => {
  const { code, stderr } = await runCommand(args, { program, environment });
  const counts = [...stderr.matchAll(/(\d+) rows {2}/g)].map(([, count]) => Number(count));
  expect([code, counts.at(-1), counts.toSorted()]).toEqual([0, 4, counts]);
});
