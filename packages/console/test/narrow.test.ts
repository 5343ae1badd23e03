import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { rowsOf } from '../../../test/support/report-console.ts';

describe.skipIf(!hasChromium)('narrow windows', () => {
  let consoles: BothConsoles;
  beforeAll(async () => {
    consoles = await startBothConsoles(rowsOf(300));
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

  test.each([320, 768, 1023, 1024])('the title is whole beside the id of a client at %i px', async (width) => {
    const page = await consoles.open('/console/subscriptions', { width });
    await page.getByText('301 subscriptions').first().waitFor();
    expect(await cut(page, '.bar h1')).toEqual([]);
  });

  const openOperator = async (path: string, width: number): Promise<Page> => {
    const page = await (await consoles.browser.newContext({ viewport: { width, height: 900 } })).newPage();
    await consoles.signInOperator(page);
    await page.goto(`${consoles.operatorUrl}/console/${path}`);
    return page;
  };

  test.each(['', 'tenants', 'tenants/acme', 'clients', 'imports', 'keys', 'audit', 'operators', 'settings'])(
    'no control of the operator at /console/%s covers another at 320 px',
    async (path) => {
      const page = await openOperator(path, 320);
      await page.locator('main :is(table, figure, h2)').first().waitFor();
      await page.setViewportSize({ width: 320, height: 2_000 });
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
      expect(covered).toEqual([]);
    },
  );
});
