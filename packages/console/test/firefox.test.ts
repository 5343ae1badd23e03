import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFilledTenant } from '../../../test/support/console-tenant.ts';
import { isThorough } from '../../../test/support/draw.ts';
import { engines } from '../../../test/support/engines.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type FirefoxPage, hasFirefox, launchFirefox } from '../../../test/support/firefox.ts';
import { focusPasteArea, type Pasted } from '../../../test/support/paste-area.ts';
import { readWorkbook } from '../../../test/support/read-workbook.ts';
import { loadRecords } from '../../../test/support/report-console.ts';
import { startService, type TestClient, type TestService } from '../../../test/support/service.ts';
import { watchFocus } from '../../../test/support/watch-focus.ts';
import { freePort } from '../../../tools/free-port.ts';
import { generateOperatorToken, hashOperatorToken } from '../../service/auth/verify/authorize-operator.ts';
import { type SyntheticRow, syntheticRows } from '../../service/import/synthetic-rows.ts';
import type { TenantId } from '../../service/storage/store.ts';
import { insertOperatorToken } from '../../service/storage/tables/operator-token.ts';

/** Keys of WebDriver. */
const [tab, enter, escapeKey, control, arrowUp, arrowDown] = [
  '\uE004',
  '\uE007',
  '\uE00C',
  '\uE009',
  '\uE013',
  '\uE015',
];

/** The name of the element that has the focus. */
const focused = `((stop) => stop.ariaLabel ?? stop.labels?.[0]?.innerText ?? stop.innerText)(document.activeElement)`;

describe.runIf(hasFirefox && isThorough)('the consoles in Firefox', () => {
  let service: TestService;
  let management: string;
  let client: TestClient;
  let page: FirefoxPage;

  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    const withStatus = (row: SyntheticRow, index: number) => ({ ...row, status: index < 12 ? 'DEPLETED' : 'ACTIVE' });
    client = await createFilledTenant(service, 'acme', 60);
    await setTimeout(1_000); // changes are compared with what the first import had left
    const again = syntheticRows({ count: 60, seed: 7, until: Math.floor(Date.now() / 1000) - 60 });
    await loadRecords(service, 'acme' as TenantId, [...again].map(withStatus));
    page = await launchFirefox();
  });
  afterAll(async () => {
    await page.close();
    await service.close();
  });

  test('a person signs in, filters by status, and saves exactly these subscriptions as a workbook', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.click({ role: 'textbox', name: 'Client id' });
    await page.type(client.client_id + tab + client.client_secret);
    await page.click({ role: 'button', name: 'Sign in' });
    await page.click({ role: 'button', name: 'Filter' });
    await page.type(`depleted${enter}`);
    await page.waitFor({ role: 'button', name: 'Status: Depleted' });
    await expect.poll(() => page.evaluate('document.querySelector("main").innerText')).toContain('12 subscriptions');
    await page.click({ role: 'button', name: 'Export' });
    await page.click('[role=menuitem]:nth-child(2)'); // Excel
    const file = await eventually(() => {
      const [name = ''] = readdirSync(page.downloads).filter((each) => each.endsWith('.xlsx'));
      const sheet = readWorkbook(readFileSync(join(page.downloads, name)));
      expect(sheet).toHaveLength(13);
      return sheet;
    });
    expect(new Set(file.slice(1).map(([, status]) => status?.value))).toEqual(new Set(['DEPLETED']));
    expect(page.failures).toEqual([]);
  });

  test('the keyboard alone reaches the rows, moves between open records, and finds a page', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.waitFor('[data-record]');
    const stops: string[] = [];
    const isOnRow = () => page.evaluate(`document.activeElement.matches('[data-record]')`);
    while ((await isOnRow()) === 'false' && stops.length < 40) {
      await page.press(tab);
      stops.push(await page.evaluate(focused));
    }
    expect(stops.filter((name) => !name.startsWith('Account')).join()).toBe(
      'Skip to the content,Overview,Subscriptions,Changes,Findings,Exports,Time of the report: Now,' +
        'Find (Ctrl K or ⌘ K),Theme: Same as system,Filter,Share,Export,Columns,Count by,Page,Previous page,Next page,Rows per page,Created,Activated,Ends,' +
        'Europe 5 GB, 30 days, ICCID 8944500070000000181',
    );
    const record = () => page.evaluate(`location.pathname.split('/').at(-1)`);
    const ids = await page.evaluate(`[...document.querySelectorAll('[data-record]')].map((row) => row.dataset.record)`);
    const [first = '', second = ''] = ids.split(',');
    await page.press(enter);
    await page.waitFor({ role: 'heading', name: 'Time line' });
    await expect.poll(record).toBe(first);
    await page.press(arrowDown);
    await expect.poll(record).toBe(second);
    await page.press(arrowUp);
    await expect.poll(record).toBe(first);
    await page.press(escapeKey);
    await expect.poll(() => page.evaluate('document.activeElement.dataset.record')).toBe(first);
    await page.press(control, 'k');
    await page.waitFor({ role: 'combobox', name: 'ICCID, email address, product, id, status or page' });
    await page.type(`changes${enter}`);
    await page.waitFor({ role: 'heading', name: 'Changes' });
    expect(page.failures).toEqual([]);
  });

  test('rows that are copied are whole, with whole ICCIDs', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.waitFor('[data-row]:nth-child(3)');
    await page.evaluate(`getSelection().setBaseAndExtent(...[2, 3].flatMap((row) => [
      document.querySelector('[data-row]:nth-child(' + row + ') .column-device'), 0,
    ]))`);
    await page.press(control, 'c');
    await page.evaluate(focusPasteArea);
    await page.press(control, 'v');
    await expect.poll(() => page.evaluate('typeof window.pasted')).toBe('object');
    const { text, cells }: Pasted = JSON.parse(await page.evaluate('JSON.stringify(window.pasted)'));
    const iccids = await page.evaluate(
      `[...document.querySelectorAll('.iccid')].slice(1, 3).map(({ title }) => title)`,
    );
    const [heads, ...lines] = text.split('\n').map((line) => line.split('\t'));
    expect(lines.map((line) => `Copy ICCID ${line[heads?.indexOf('ICCID') ?? -1]}`).join()).toBe(iccids);
    expect(cells.map(([cell]) => cell)).toEqual([heads, ...lines].flat());
  });

  test('a key that is typed at once after a click on the filter is not lost', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.waitFor({ role: 'button', name: 'Filter' });
    await page.evaluate(watchFocus);
    await page.click({ role: 'button', name: 'Filter' });
    await expect.poll(() => page.evaluate('window.focusedRole')).toBe('combobox');
  });

  test('a date is whole in its field', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.click({ role: 'button', name: 'Filter' });
    await page.type(`created${enter}`);
    await page.waitFor('input[type=date]');
    const missing = `((field) => {
      const copy = field.cloneNode();
      copy.style.cssText = 'position: fixed; width: max-content';
      field.parentNode.append(copy);
      return copy.offsetWidth - field.offsetWidth;
    })(document.querySelector('input[type=date]'))`;
    expect(Number(await page.evaluate(missing))).toBeLessThanOrEqual(0);
  });

  test('a long list begins on the first page of paper', async () => {
    await page.goto(`${service.url}/console/changes?since=7d`);
    await page.waitFor('.change:nth-of-type(60)');
    const pages = await page.countPrintedPages();
    await page.evaluate(`document.querySelector('.bar').remove()`);
    expect(pages).toBeGreaterThan(1);
    expect(await page.countPrintedPages()).toBe(pages);
  });

  test('an operator signs in and sees that the service is healthy, and its tenants', async () => {
    const token = generateOperatorToken();
    const row = { id: 'op-1', name: 'ada', scopes: ['operator:read' as const], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(token));
    await page.goto(`${management}/console/`);
    await page.click({ name: 'Operator token' });
    await page.type(token);
    await page.click({ role: 'button', name: 'Sign in' });
    await page.waitFor({ role: 'heading', name: 'The service is healthy' });
    await page.click({ role: 'link', name: 'Tenants' });
    await page.waitFor({ role: 'link', name: 'acme' });
    expect(page.failures).toEqual([]);
  });
});
