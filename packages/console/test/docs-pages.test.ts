import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';

describe.skipIf(!hasChromium)('the API reference in a browser', () => {
  let consoles: BothConsoles;
  let management: string;
  let url: string;
  let page: Page;
  let foreign: string[];
  let failures: string[];

  beforeAll(async () => {
    consoles = await startBothConsoles([]);
    management = consoles.operatorUrl;
    url = consoles.service.url;
  });
  afterAll(() => consoles.close());
  beforeEach(async () => {
    page = await (await consoles.browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
    foreign = [];
    failures = [];
    page.on('request', (request) => {
      const known = [url, management, 'data:'].some((start) => request.url().startsWith(start));
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

  test('/ leads to the console', async () => {
    await page.goto(url);
    await page.waitForURL(`${url}/console`);
  });

  test('/docs: the language of the samples is that of all operations, and remembered', async () => {
    await page.goto(`${url}/docs`);
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

  test('/docs: a search shows only operations that contain all words', async () => {
    await page.goto(`${url}/docs`);
    await page.getByRole('searchbox').fill('tombstone changes');
    await page.getByText('1 operation', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.operation:visible h3').allTextContents()).toEqual(['List changes']);
    await expect
      .poll(() => page.locator('main h2:visible').allTextContents())
      .toEqual(['Read subscriptions', 'Objects', 'Errors']);
  });

  test('/docs: axe finds no accessibility fault', async () => {
    for (const [origin, operation, colorScheme, width] of [
      [url, 'listSubscriptions', 'light', 1280],
      [url, 'listSubscriptions', 'dark', 360],
      [management, 'createTenant', 'light', 1280],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${origin}/docs`);
      await page.getByRole('button', { name: `Copy curl: ${operation}` }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
});
