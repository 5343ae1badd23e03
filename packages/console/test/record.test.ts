import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';

const markup = '<img src=x onerror="window.wasRun = true"><script>window.wasRun = true</script>';
const rows = rowsOf(30);
const hostile = {
  ...rows[0],
  id: 'aG9zdGlsZQ',
  status: 'SOMETHING_NEW',
  product: { ...rows[0]?.product, name: `${markup} مرحبا 🎉` },
  device_id: `'; rm -rf / #"$(id)`,
};
const encoded = (id: string): string => encodeURIComponent(id);

describe.skipIf(!hasChromium)('the record panel in a browser', () => {
  let console: ReportConsole;
  let page: Page;
  /** The ids in the order of the page, newest first. */
  let ids: string[];

  beforeAll(async () => {
    console = await startReportConsole([...rows, hostile]);
    const token = await console.service.accessToken(console.client);
    const list = await console.service.get('/v1/subscription?sort=-createdDate', token);
    ids = (await list.json()).map(({ id }: { id: string }) => id);
  });
  afterAll(() => console.close());
  afterEach(() => page.context().close());

  const openRecord = async (id: string): Promise<void> => {
    page = await console.open(`/console/subscriptions/${encoded(id)}`);
  };
  const panel = () => page.getByRole('complementary');
  const shown = (id: string) => panel().getByText(id, { exact: true }).first().waitFor();

  test('a link to a record opens it after signing in, and again after a reload', async () => {
    const [id = ''] = ids;
    const context = await console.browser.newContext();
    page = await context.newPage();
    await page.goto(`${console.service.url}/console/subscriptions/${encoded(id)}?status=ACTIVE`);
    await page.getByLabel('Client id').fill(console.client.client_id);
    await page.getByLabel('Client secret').fill(console.client.client_secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shown(id);
    await page.reload();
    await shown(id);
    expect(new URL(page.url()).search).toBe('?status=ACTIVE');
  });

  test('the panel has the JSON byte for byte, and breaks no rule of accessibility', async () => {
    const [id = ''] = ids;
    const token = await console.service.accessToken(console.client);
    const sent = await (await console.service.get(`/v1/subscription/${encoded(id)}`, token)).text();
    await openRecord(id);
    await panel().getByText('JSON', { exact: true }).click();
    await expect.poll(() => panel().getByRole('region', { name: 'JSON' }).textContent()).toBe(sent);
    expect(await accessibilityFaults(page, { part: 'aside' })).toEqual([]);
  });

  test('the command for curl, run in a shell, returns the record', async () => {
    await openRecord(hostile.id);
    await panel().getByText('Command for curl').click();
    const command = (await panel().getByRole('region', { name: 'Command for curl' }).textContent()) ?? '';
    const token = await console.service.accessToken(console.client);
    const environment = { PATH: process.env.PATH ?? '', ACCESS_TOKEN: token };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: environment });
    expect(JSON.parse(stdout)).toMatchObject({ id: hostile.id, device_id: hostile.device_id });
  });

  test('markup and unknown words in a record are shown as text', async () => {
    await openRecord(hostile.id);
    await panel().getByText(markup).first().waitFor();
    await panel().getByText(hostile.device_id).first().waitFor();
    await panel().getByText('SOMETHING_NEW').first().waitFor();
    await panel().getByText('This console has no description of this status').waitFor();
    expect(await page.evaluate(() => 'wasRun' in window)).toBe(false);
  });

  test('arrow keys move to the neighbours within the page, and Esc closes the panel', async () => {
    await openRecord(ids[0] ?? '');
    await shown(ids[0] ?? '');
    await expect.poll(() => panel().getByRole('button', { name: 'Next subscription' }).isEnabled()).toBe(true);
    await expect.poll(() => panel().getByRole('button', { name: 'Previous subscription' }).isDisabled()).toBe(true);
    await page.keyboard.press('ArrowRight');
    await shown(ids[1] ?? '');
    await panel().focus();
    await page.keyboard.press('ArrowDown');
    await shown(ids[2] ?? '');
    await page.keyboard.press('k');
    await shown(ids[1] ?? '');
    await page.keyboard.press('ArrowLeft');
    await shown(ids[0] ?? '');
    await page.keyboard.press('j');
    await shown(ids[1] ?? '');
    expect(page.url()).toContain(encoded(ids[1] ?? ''));
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/console/subscriptions');
  });

  test('at the last record of the page, the focus moves from Next to the button beside it', async () => {
    const [last = '', before = ''] = ids.toReversed();
    await openRecord(before);
    const next = panel().getByRole('button', { name: 'Next subscription' });
    await next.and(page.locator(':enabled')).focus();
    await page.keyboard.press('Enter');
    await shown(last);
    await expect.poll(() => next.isDisabled()).toBe(true);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await expect.poll(focused).toBe('Close');
  });

  test('a record leads to all subscriptions of its SIM, with their number', async () => {
    await openRecord(ids[0] ?? '');
    const link = panel().getByRole('link', { name: /of this SIM$/ });
    await expect.poll(() => link.textContent()).toMatch(/^(?:All \d+|Only this one) of this SIM$/);
    const count = /\d+/.exec((await link.textContent()) ?? '')?.[0] ?? '1';
    await link.click();
    await page
      .getByText(new RegExp(`^${count} subscriptions?, newest first, ICCID`))
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toMatch(/^\?iccid=\d+$/);
  });

  test('a record has its time line', async () => {
    const [id = ''] = ids;
    const row = rows.find((given) => given.id === id);
    await console.load([{ ...row, status: 'DEPLETED' }]);
    await openRecord(id);
    const line = panel().getByRole('region', { name: 'Time line' });
    await line.getByText('Status:').waitFor();
    await expect
      .poll(() => line.getByRole('listitem').filter({ hasText: 'Changed' }).innerText())
      .toMatch(/→ Depleted/);
    expect(await accessibilityFaults(page, { part: 'aside' })).toEqual([]);
  });

  test('a link to a record that does not exist says so', async () => {
    for (const id of ['bm9uZQ', 'changes', 'no id']) {
      await openRecord(id);
      await panel().getByText('No such subscription').waitFor();
      await panel().getByText(id).waitFor();
      if (id !== 'no id') await page.context().close();
    }
  });

  test('an error of the service is shown with its correlation id, and trying again shows the record', async () => {
    const [id = ''] = ids;
    const path = `**/v1/subscription/${encoded(id)}`;
    page = await console.open('/console/exports');
    await page.route(path, (route) =>
      route.fulfill({
        status: 503,
        json: { messages: ['Cannot read: busy'], correlation_id: 'c-1' },
        headers: { 'x-correlation-id': 'c-1' },
      }),
    );
    await page.goto(`${console.service.url}/console/subscriptions/${encoded(id)}`);
    await panel().getByText('Cannot read: busy').waitFor();
    await panel().getByText('c-1').waitFor();
    await page.unroute(path);
    await panel().getByRole('button', { name: 'Try again' }).click();
    await shown(id);
  });
});
