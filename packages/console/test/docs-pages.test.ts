import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium, type SharedBrowser, shareChromium } from '../../../test/support/chromium.ts';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestClient, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import { generateOperatorToken, hashOperatorToken } from '../../service/auth/verify/authorize-operator.ts';
import { importRecords } from '../../service/import/import-records.ts';
import { syntheticRows } from '../../service/import/synthetic-rows.ts';
import { insertOperatorToken } from '../../service/storage/tables/operator-token.ts';

describe.skipIf(!hasChromium)('the first page and the API reference in a browser', () => {
  let service: TestService;
  let management: string;
  let client: TestClient;
  let browser: SharedBrowser;
  let page: Page;
  let foreign: string[];
  let failures: string[];

  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    const tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    const rows = [...syntheticRows({ count: 45, seed: 5, until: 1_780_000_000 })];
    const source = (async function* () {
      yield Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
    })();
    await importRecords(service.store, tenant, source, {
      format: 'ndjson',
      dryRun: false,
      onRejected: () => undefined,
    });
    browser = await shareChromium();
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  beforeEach(async () => {
    page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
    foreign = [];
    failures = [];
    page.on('request', (request) => {
      const known = [service.url, management, 'data:'].some((start) => request.url().startsWith(start));
      if (!known) foreign.push(request.url());
    });
    page.on('pageerror', (error) => failures.push(error.message));
    page.on('console', (entry) => {
      if (entry.type() === 'error' && !entry.text().includes('status of 4')) failures.push(entry.text());
    });
  });
  afterEach(async () => {
    expect(foreign).toEqual([]); // every asset comes from our own server
    expect(failures).toEqual([]);
    await page.context().close();
  });

  test('/: the page leads to the console, and has no accessibility problem', async () => {
    await page.goto(service.url);
    expect(await accessibilityFaults(page)).toEqual([]);
    // the policy allows its style
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).margin)).toBe('0px');
    await page.setViewportSize({ width: 360, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.waitForURL(`${service.url}/console`);
  });

  test('/docs: a request with client credentials returns a record', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(client.client_secret);
    await page.locator('dialog button[type=submit]').click();
    await page.getByRole('button', { name: 'Authorized', exact: true }).waitFor();
    const operation = page.locator('#listSubscriptions');
    await operation.getByText('Try it').click();
    const size = operation.getByLabel('size', { exact: true });
    await size.fill('1');
    // what is typed has the color of text, not that of a placeholder
    await expect
      .poll(() => size.evaluate((input) => getComputedStyle(input).color))
      .toBe(await page.evaluate(() => getComputedStyle(document.body).color));
    await operation.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => operation.locator('.result').textContent()).toContain('200 OK');
    const [, body = ''] = ((await operation.locator('.result').textContent()) ?? '').split('\n\n');
    expect(JSON.parse(body)).toHaveLength(1);
    // the sample has the token now, and can be copied as it is
    const sample = operation.getByRole('group', { name: 'curl: listSubscriptions' });
    const first = (await sample.textContent()) ?? '';
    expect(first).toMatch(/Bearer ey[\w-]+\./);
    await operation.getByRole('button', { name: 'Copy curl: listSubscriptions' }).waitFor();
    // a token expires after five minutes: the next one takes its place
    await page.getByRole('button', { name: 'Authorized', exact: true }).click();
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(client.client_secret);
    await page.locator('dialog button[type=submit]').click();
    await expect.poll(() => sample.textContent()).not.toBe(first);
  });

  test('/docs of the management listener: an operator creates a tenant with a token, and axe finds no fault', async () => {
    const token = generateOperatorToken();
    const row = { id: 'op-1', name: 'test', scopes: ['operator:write'], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(token));
    await page.goto(`${management}/docs`);
    expect(await accessibilityFaults(page)).toEqual([]);
    const operation = page.locator('#createTenant');
    await operation.getByText('Try it').click();
    await operation.locator('textarea').fill('{"tenant":"from-docs"}');
    await operation.getByRole('button', { name: 'Send' }).click();
    await page.locator('dialog').getByLabel('Token').fill(token);
    await page.locator('dialog button[type=submit]').click();
    await operation.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => operation.locator('.result').textContent()).toContain('"tenant": "from-docs"');
  });

  test('/docs: the language of the samples is that of all operations, and remembered', async () => {
    await page.goto(`${service.url}/docs`);
    const shown = (id: string) => page.locator(`#${id} .sample[open] > summary`).allTextContents();
    await page.locator('#listSubscriptions .sample > summary', { hasText: 'Python' }).click();
    await expect.poll(() => shown('getSubscription')).toEqual(['Python']);
    await page.reload();
    await expect.poll(() => shown('getSubscriptionSummary')).toEqual(['Python']);
    await expect
      .poll(() =>
        page
          .locator('#listSubscriptions')
          .getByRole('group', { name: /^Python/ })
          .isVisible(),
      )
      .toBe(true);
    await page.getByRole('searchbox').fill('introspect');
    await expect.poll(() => page.locator('nav h2:visible').allTextContents()).not.toContain('report');
  });

  test('/docs: the dialog offers client credentials and nothing else, and shows why they are rejected', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await expect
      .poll(() => page.locator('dialog input').evaluateAll((inputs) => inputs.map((each) => each.getAttribute('name'))))
      .toEqual(['client_id', 'client_secret']);
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill('wrong');
    await page.locator('dialog button[type=submit]').click();
    await page.getByText('Cannot authenticate the client: client_id').last().waitFor();
  });

  test('/docs: a search shows only operations that contain all words', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('searchbox').fill('tombstone changes');
    await page.getByText('1 operation', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.operation:visible h3').allTextContents()).toEqual(['List changes']);
    await expect
      .poll(() => page.locator('main h2:visible').allTextContents())
      .toEqual(['Read subscriptions', 'Objects', 'Errors']);
  });

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('/docs: axe finds no accessibility fault (%s, %i px)', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${service.url}/docs`);
    expect(await accessibilityFaults(page)).toEqual([]);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  });
});
