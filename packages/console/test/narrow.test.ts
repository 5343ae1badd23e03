import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { rowsOf } from '../../../test/support/report-console.ts';
import type { TenantId } from '../../service/storage/store.ts';

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

  test('an id among the findings is one line', async () => {
    const page = await consoles.open('/console/findings', { width: 390 });
    const ids = page.locator('.finding-example a');
    await ids.first().waitFor();
    const tops = await page
      .locator('.findings tbody > tr:first-child')
      .first()
      .evaluate((row) =>
        ['th', 'td:nth-child(2) > a'].map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(row.querySelector(cell) ?? row);
          return range.getClientRects()[0]?.top ?? 0;
        }),
      );
    expect(Math.abs((tops[0] ?? 0) - (tops[1] ?? 9))).toBeLessThan(2);
    const heights = await ids.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(20);
    expect(Math.max(...heights)).toBeLessThan(30);
  });

  test.each([390, 768])('the last import of a tenant is within its place at %i px', async (width) => {
    const page = await (await consoles.browser.newContext({ viewport: { width, height: 800 } })).newPage();
    await consoles.signInOperator(page);
    await page.goto(`${consoles.operatorUrl}/console/tenants`);
    await page.getByText('1 loaded, 1 rejected').waitFor();
    expect(await cut(page, '.data-table td, .data-table .status-label')).toEqual([]);
  });

  test('a figure of a tenant is within its box at 320 px', async () => {
    const page = await openOperator('tenants/acme', 320);
    await page.locator('.figure').first().waitFor();
    expect(await cut(page, '.figure dd')).toEqual([]);
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

  test('short words of a table stay whole beside long names', async () => {
    await consoles.service.createClient('acme' as TenantId, { name: 'A long name '.repeat(16).trim() });
    const page = await openOperator('clients', 920);
    const row = page.getByRole('row').filter({ hasText: 'A long name A long name' });
    await row.waitFor();
    const lines = (word: string) =>
      row.getByText(word, { exact: true }).evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      });
    await expect.poll(async () => [await lines('acme'), await lines('subscription:read')]).toEqual([1, 1]);
  });
});
