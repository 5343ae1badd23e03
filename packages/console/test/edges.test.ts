import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';

const longStatus = 'WAITING_FOR_THE_OPERATOR_TO_CONFIRM_THE_ORDER_OF_THIS_CUSTOMER'.slice(0, 64);
const rows = rowsOf(60).map((row, index) => (index % 2 === 0 ? { ...row, status: longStatus } : row));

describe.skipIf(!hasChromium)('addresses and windows at the edge', () => {
  let reports: ReportConsole;
  let page: Page;
  beforeAll(async () => {
    reports = await startReportConsole(rows);
  });
  afterAll(() => reports.close());
  afterEach(() => page.context().close());

  test('an unknown address is a page with a way back', async () => {
    page = await reports.open('/console/nope');
    await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  /** The part of the window that neither bars nor its edges cover, in CSS pixels. */
  const seen = (part: string): Promise<number> =>
    page
      .locator(part)
      .first()
      .evaluate((element) => {
        const { left, width, top, bottom } = element.getBoundingClientRect();
        const lines = Array.from({ length: Math.ceil(bottom - top) }, (_, line) => top + line + 0.5);
        return lines.filter((y) => element.contains(document.elementFromPoint(left + width / 2, y))).length;
      });

  // 1280 × 1024 and 1280 × 900 at 400 %
  test.each([
    [320, 640],
    [320, 256],
    [320, 225],
  ])(
    'a row is visible in a window of %d × %d pixels, and no label of the bar touches another',
    async (width, height) => {
      page = await reports.open('/console/subscriptions', { width });
      await page.setViewportSize({ width, height });
      const row = page.locator('.record-list > li').first();
      await row.waitFor();
      const { height: tall = 0 } = (await row.boundingBox()) ?? {};
      await expect.poll(() => seen('.record-list > li')).toBeGreaterThanOrEqual(Math.floor(tall) - 1);
      const labels = await page.locator('.rail li:visible').evaluateAll((items) =>
        items.map((item) => {
          const range = document.createRange();
          range.selectNodeContents(item.querySelector('a > span') ?? item.querySelector('button')?.lastChild ?? item);
          const { left, right } = range.getBoundingClientRect();
          return { left, right };
        }),
      );
      expect(labels.length).toBeGreaterThan(3);
      for (const [index, { left }] of labels.entries())
        expect(left - (labels[index - 1]?.right ?? -4)).toBeGreaterThanOrEqual(4);
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    },
  );

  test.each([320, 360, 700, 1280])(
    'a status of 64 letters leaves the product its place at %d pixels',
    async (width) => {
      page = await reports.open(`/console/subscriptions?status=${longStatus}`, { width });
      const row = page.locator('[data-row]').first();
      await row.waitFor();
      const product = await row.locator('.record-link').boundingBox();
      const status = await row.locator('.status-label').boundingBox();
      expect(product?.width).toBeGreaterThan(90);
      if (product === null || status === null) expect.unreachable();
      const isApart = status.x + status.width <= product.x || product.x + product.width <= status.x;
      expect(isApart || status.y >= product.y + product.height).toBe(true);
      expect(status.x + status.width).toBeLessThanOrEqual(width);
      await expect.poll(() => row.locator('.status-label').getAttribute('title')).toBe(longStatus);
    },
  );
});
