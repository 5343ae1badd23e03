import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { hasTerminal, startInTerminal } from '../../../../test/support/terminal.ts';

const rows = Array.from({ length: 25 }, (_, n) =>
  subscriptionRow({ id: `id_${String(n).padStart(2, '0')}`, status: n % 2 === 0 ? 'ACTIVE' : 'SUSPENDED' }),
);

describe.runIf(hasTerminal)('in a terminal', () => {
  let folder: string;
  let service: TestService;
  let client: TestClient;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-terminal-'));
    environment = { XDG_CONFIG_HOME: folder };
    service = await startService(await engines[0].openTestStore());
    const tenant = await service.createTenant('acme');
    client = await service.createClient(tenant, { clientId: 'acme-reporting' });
    await service.store.loadSubscriptions(tenant, rows);
    const login = startInTerminal(['login', '--url', service.url], environment);
    await login.until('Client id: ');
    login.type('acme-reporting\n');
    await login.until('Client secret (not shown): ');
    login.type(`wrong\u0015${client.client_secret}x\u007f\r`); // Ctrl-U and backspace
    const { code, shown } = await login.ended;
    expect([code, shown]).toEqual([0, expect.stringContaining('which has 25 subscriptions')]);
    expect(shown).not.toContain(client.client_secret.slice(1, 8));
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test('login stores the secret that was typed without being shown', () => {
    const profile = readFileSync(join(folder, 'subreport/profiles/default.json'), 'utf8');
    expect(JSON.parse(profile)).toMatchObject(client);
  });

  test('Ctrl-C at the question for the secret exits with 130', async () => {
    const login = startInTerminal(['login', '--url', service.url, '--client-id', 'x'], environment);
    await login.until('(not shown): ');
    login.type('\u0003');
    expect(await login.ended).toMatchObject({ code: 130 });
  });

  test('list is a table that fits, with colored statuses, the range and the next page', async () => {
    const { code, shown } = await startInTerminal(['list', '--size', '20'], environment, 70).ended;
    expect(code).toBe(0);
    expect(shown).toContain('\u001b[32mACTIVE\u001b[39m');
    const lines = stripVTControlCharacters(shown).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ID {5}STATUS {5}PRODUCT .*EXPIRES$/);
    expect(lines.slice(0, 21).filter((line) => line.length > 70)).toEqual([]);
    expect(lines.slice(21)).toEqual([
      expect.stringContaining('Columns that do not fit: '),
      '1-20 of 25. Next page: subreport list --size 20 --page 2',
    ]);
  });

  test('NO_COLOR and -o ndjson write plain text', async () => {
    const plain = await startInTerminal(['list', '--size', '2'], { ...environment, NO_COLOR: '1' }).ended;
    expect([plain.code, plain.shown]).toEqual([0, stripVTControlCharacters(plain.shown)]);
    const { shown } = await startInTerminal(['list', '--size', '2', '-o', 'ndjson', '-q'], environment).ended;
    expect(
      shown
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual(['id_00', 'id_01']);
  });

  test('export shows its progress and clears it', async () => {
    const { code, shown } = await startInTerminal(['export', join(folder, 'all.csv')], environment).ended;
    expect([code, shown]).toEqual([0, expect.stringMatching(/\[[#.]{30}\] \d+ % /)]);
    expect(shown.split('\u001b[K').at(-1)).toBe(`25 subscriptions, complete: ${join(folder, 'all.csv')}\n`);
  });

  test.each([
    ['all.csv', '--quiet'],
    ['-', '-o', 'ndjson'],
  ])('export %s %s shows no progress', async (file, ...more) => {
    const place = file === '-' ? file : join(folder, file);
    const { code, shown } = await startInTerminal(['export', place, ...more], environment).ended;
    expect([code, shown.includes('[#')]).toEqual([0, false]);
  });

  test('export does not print a workbook on a terminal', async () => {
    const { code, shown } = await startInTerminal(['export', '-', '-o', 'xlsx'], environment).ended;
    expect([code, shown]).toEqual([2, expect.stringContaining('it must go to a file or a pipe')]);
  });
});
