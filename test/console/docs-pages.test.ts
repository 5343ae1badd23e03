import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generateOperatorToken, hashOperatorToken } from '../../src/auth/operator-token.ts';
import { importRecords } from '../../src/import/import-records.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import { insertOperatorToken } from '../../src/storage/tables/operator-token.ts';
import { freePort } from '../../tools/free-port.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { engines } from '../support/engines.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

describe.skipIf(!hasChromium)('the pages in a browser', () => {
  let service: TestService;
  let management: string;
  let client: TestClient;
  let browser: Browser;
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
    browser = await launchChromium();
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

  const picture = async (name: string): Promise<void> => {
    const folder = process.env.PICTURES;
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  };
  const signIn = async (): Promise<void> => {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(client.client_secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('45 subscriptions').waitFor();
  };

  /** The rules of axe that the page breaks; what passes is not collected, which takes longer. */
  async function accessibilityFaults(): Promise<string[]> {
    const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
    return (await axe.analyze()).violations.map(({ id }) => id);
  }

  test('/: the page leads to the console, and has no accessibility problem', async () => {
    await page.goto(service.url);
    await picture('home');
    expect(await accessibilityFaults()).toEqual([]);
    // the policy allows its style
    expect(await page.evaluate(() => getComputedStyle(document.body).maxWidth)).not.toBe('none');
    await page.getByRole('link', { name: '/console' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('/console: sign in, read the first page, the last one, and the first again', async () => {
    await signIn();
    await picture('console');
    expect(await page.locator('#rows tr').count()).toBe(20);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 3 of 3').waitFor();
    expect(await page.locator('#rows tr').count()).toBe(5);
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('Page 2 of 3').waitFor();
  });

  test('/console: a filter narrows the report and appears in the address, but an e-mail does not', async () => {
    await signIn();
    await page.getByLabel('Status').fill('ACTIVE');
    await page.getByLabel('Email or identifier').fill('user1@example.com');
    await page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => page.locator('#message').textContent()).not.toBe('45 subscriptions');
    expect(page.url()).toContain('status=ACTIVE');
    expect(page.url()).not.toContain('example.com');
  });

  test('/console: an invalid filter shows every fault with the correlation id', async () => {
    await signIn();
    await page.getByLabel('ICCID').fill('12');
    await page.getByLabel('Created after').fill('yesterday');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Correlation id').waitFor();
    const text = (await page.locator('#message').textContent()) ?? '';
    expect(text).toContain("'iccid'");
    expect(text).toContain("'after'");
    await picture('console-error');
  });

  test('/console: a wrong secret shows a message at the sign-in and stores nothing', async () => {
    await page.goto(`${service.url}/console`);
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Cannot authenticate the client').waitFor();
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])).toEqual([
      0,
      0,
      '',
    ]);
    await picture('console-sign-in');
  });

  test('/console: signing out revokes the tokens, and a response that arrives later shows nothing', async () => {
    await signIn();
    expect(await page.getByLabel('Client secret').inputValue()).toBe('');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let authorization = '';
    await page.route('**/v1/subscription*', async (route) => {
      authorization = (await route.request().headerValue('authorization')) ?? '';
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => authorization).not.toBe('');
    const [revoked] = await Promise.all([
      page.waitForResponse('**/oauth2/revoke'),
      page.getByRole('button', { name: 'Sign out' }).click(),
    ]);
    expect(revoked.status()).toBe(200);
    const late = page.waitForResponse('**/v1/subscription*');
    release();
    await (await late).finished();
    await page.getByText('Signed out.').waitFor();
    // rows would have been added by then
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await page.locator('#rows tr').count()).toBe(0);
    await page.unrouteAll();
    expect((await fetch(`${service.url}/connect-api/v1/subscription`, { headers: { authorization } })).status).toBe(
      401,
    );
  });

  test('/console: HTML in a record is shown as text', async () => {
    const tenant = await service.createTenant('markup');
    client = await service.createClient(tenant);
    const [row] = [...syntheticRows({ count: 1, seed: 1, until: 1_780_000_000 })];
    const nasty = { ...row, product: { ...row?.product, name: '<img src=x onerror=alert(1)>' } };
    const source = (async function* () {
      yield Buffer.from(JSON.stringify(nasty));
    })();
    await importRecords(service.store, tenant, source, {
      format: 'ndjson',
      dryRun: false,
      onRejected: () => undefined,
    });
    await page.goto(`${service.url}/console`);
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(client.client_secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('#rows img').count()).toBe(0);
  });

  test.each(['light', 'dark'] as const)('/console: axe finds no accessibility fault (%s)', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${service.url}/console`);
    expect(await accessibilityFaults()).toEqual([]);
  });

  test('/docs: a request with client credentials returns a record', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(client.client_secret);
    await page.locator('dialog button[type=submit]').click();
    await page.getByRole('button', { name: 'Authorized' }).waitFor();
    const operation = page.locator('#listSubscriptions');
    await operation.getByText('Try it').click();
    await operation.getByLabel('size', { exact: true }).fill('1');
    await operation.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => operation.locator('.result').textContent()).toContain('200 OK');
    const [, body = ''] = ((await operation.locator('.result').textContent()) ?? '').split(/\n\n(?=\[)/);
    expect(JSON.parse(body)).toHaveLength(1);
    await picture('docs');
  });

  test('/docs of the management listener: an operator creates a tenant with a token, and axe finds no fault', async () => {
    const token = generateOperatorToken();
    const row = { id: 'op-1', name: 'test', scopes: ['operator:write'], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(token));
    await page.goto(`${management}/docs`);
    expect(await accessibilityFaults()).toEqual([]);
    const operation = page.locator('#createTenant');
    await operation.getByText('Try it').click();
    await operation.locator('textarea').fill('{"tenant":"from-docs"}');
    await operation.getByRole('button', { name: 'Send' }).click();
    await page.locator('dialog').getByLabel('Token').fill(token);
    await page.locator('dialog button[type=submit]').click();
    await operation.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => operation.locator('.result').textContent()).toContain('"tenant": "from-docs"');
    await picture('docs-operator');
  });

  test('/docs: the dialog offers client credentials and nothing else, and shows why they are rejected', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect(
      await page.locator('dialog input').evaluateAll((inputs) => inputs.map((each) => each.getAttribute('name'))),
    ).toEqual(['client_id', 'client_secret']);
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill('wrong');
    await page.locator('dialog button[type=submit]').click();
    await page.getByText('Cannot authenticate the client: client_id').last().waitFor();
  });

  test('/docs: a search shows only operations that contain all words', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('searchbox').fill('tombstone changes');
    await page.getByText('1 operation', { exact: true }).waitFor();
    expect(await page.locator('.operation:visible h3').allTextContents()).toEqual(['List changes']);
  });

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('/docs: axe finds no accessibility fault (%s, %i px)', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${service.url}/docs`);
    expect(await accessibilityFaults()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  });
});
