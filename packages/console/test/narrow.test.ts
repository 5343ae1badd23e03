import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { rowsOf } from '../../../test/support/report-console.ts';

describe.skipIf(!hasChromium)('narrow windows', () => {
  let consoles: BothConsoles;
  beforeAll(async () => {
    consoles = await startBothConsoles(rowsOf(60));
    await consoles.importFaultyRow();
  });
  afterAll(() => consoles.close());

  /** The texts of the elements that are wider than their place. */
  const cut = (page: Page, selector: string) =>
    page
      .locator(selector)
      .evaluateAll((all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth + 1).map(({ textContent }) => textContent),
      );

  test('the title is whole beside the id of a client in every width', async () => {
    const page = await consoles.open('/console/subscriptions', { width: 320 });
    for (const width of [320, 768, 1023, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByText('61 subscriptions').first().waitFor();
      expect([width, await cut(page, '.bar h1')]).toEqual([width, []]);
    }
  });

  test('no control of the operator covers another at 320 px', async () => {
    const page = await (await consoles.browser.newContext({ viewport: { width: 320, height: 2_000 } })).newPage();
    await consoles.signInOperator(page);
    for (const path of [
      '',
      'tenants',
      'tenants/acme',
      'clients',
      'imports',
      'keys',
      'audit',
      'operators',
      'settings',
    ]) {
      await page.goto(`${consoles.operatorUrl}/console/${path}`);
      await page.locator('main :is(table, figure, h2)').first().waitFor();
      const covered = await page.locator('main :is(button, select, .toolbar a)').evaluateAll((all) =>
        all
          .filter((each) => each.checkVisibility())
          .filter((each) => {
            const { left, right, top, height } = each.getBoundingClientRect();
            const at = (x: number) => document.elementFromPoint(x, top + height / 2);
            return [left + 3, right - 3].some((x) => at(x) !== null && at(x)?.closest('button, select, a') !== each);
          })
          .filter((each) => each.getBoundingClientRect().bottom < window.innerHeight - 80)
          .map(({ textContent }) => textContent),
      );
      expect([path, covered]).toEqual([path, []]);
    }
  });
});
