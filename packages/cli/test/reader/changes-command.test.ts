import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService } from '../../../../test/support/service.ts';
import { buildProblem } from '../../../contract/problem.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-changes-command-'));
afterAll(() => rmSync(folder, { recursive: true }));
const environment = { XDG_CONFIG_HOME: folder };

const idsIn = (ndjson: string): string[] => [...ndjson.matchAll(/"id":"(\w)"/g)].map(([, id = '']) => id);

describe('subreport changes', () => {
  const selections = [
    ...[['--newest'], ['--kind', 'removed'], ['--field', 'status'], ['--import-id', 'none']],
    ...[
      ['--field', 'status', '--from', 'ACTIVE'],
      ['--field', 'status', '--to', 'ACTIVE'],
    ],
  ];
  const copied = [...selections, ['--before']];
  const counted = [...copied, ['--follow'], ['--size', '5']];

  const refused: readonly (readonly [args: readonly string[], said: string])[] = [
    ...copied.map(
      (more) => [['--follow', ...more], 'Cannot follow with --before, --newest, --fields or a filter'] as const,
    ),
    ...counted.map(
      (more) => [['--summary', '--since', '7d', ...more], `Cannot count changes with ${more[0]}: --summary`] as const,
    ),
    [['--summary'], 'Cannot count changes: --since must be given'],
    [['--since', '7d', '--until', '1d'], 'Cannot use --until without --summary'],
    [['--follow', '-o', 'json'], 'Cannot follow as JSON'],
  ];
  test.each(refused)('%j exits with 2 and says why', async (args, said) => {
    const { code, stdout, stderr } = await runHere(['changes', ...args], environment);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
  });

  test('a history that is lost between two pages ends the command, and no change is listed or counted twice', async () => {
    const service = await startService(await engines[0].openTestStore());
    const tenant = await service.createTenant('acme');
    const client = await service.createClient(tenant);
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' }), subscriptionRow({ id: 'b' })]);
    const begins = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    let pages = 0;
    const proxy = createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
      if (url.includes('/changes')) pages += 1;
      if (pages === 2) {
        const members = { history_begins_at: begins };
        const problem = buildProblem({ code: 'HISTORY_NOT_KEPT', messages: ['Cannot read'], members }, 'c');
        response.writeHead(410, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
        return;
      }
      // the tenant has no history of an earlier day
      const known = url.replace(/since=[0-9T:Z%A-]+T[^&]*&?/, '');
      const answer = await fetch(service.url + known, { headers: { authorization } });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const base_url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/connect-api`;
    const file = join(folder, 'proxied.json');
    writeFileSync(file, JSON.stringify({ base_url, token_url: `${service.url}/oauth2/token`, ...client }));
    expect((await runHere(['login', '--credentials', file], environment)).stderr).toBe('');
    const { code, stdout } = await runHere(['changes', '--since', 'today', '--size', '1', '-o', 'ndjson'], environment);
    expect([code, idsIn(stdout), pages]).toEqual([1, ['a'], 2]);
    const all = await runHere(['changes', '--since', 'today', '--size', '1', '-o', 'ndjson'], environment);
    expect([idsIn(all.stdout), all.stderr]).toEqual([['a', 'b'], expect.stringContaining('\n2 changes. Next changes')]);
    proxy.closeAllConnections();
    proxy.close();
    await service.close();
  });
});
