import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';
import { groupIccid } from '../report/words/iccid.ts';

const [first, second, third] = rowsOf(3);
const shared = { iccid: '8944500102198309999', status: 'ACTIVE', expirationDate: '2124-05-01T00:00:00Z' };
const rows = [
  { ...first, ...shared, id: 'b25l' },
  { ...second, ...shared, id: 'dHdv', product: { ...second?.product, period: 0, name: '<b>Zero</b>' } },
  { ...third, ...shared, id: 'bm9uZQ', iccid: '8944500102198309998', status: undefined },
];

describe.skipIf(!hasChromium)('the findings in a browser', () => {
  let console: ReportConsole;
  let page: Page;
  beforeAll(async () => {
    console = await startReportConsole(rows);
  });
  afterAll(() => console.close());
  afterEach(() => page.context().close());

  const group = (name: string) => page.getByRole('rowgroup', { name });

  test('each says what it means, has its records in rows and opens them, and the page breaks no rule of accessibility', async () => {
    page = await console.open('/console/findings');
    const sims = group('ICCIDs with several active subscriptions');
    await sims.getByText(/^One SIM is counted/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const cells = sims.getByRole('row').last().getByRole('cell');
    const shown = ['<b>Zero</b>', groupIccid(shared.iccid), 'Active'];
    await expect.poll(async () => (await cells.allInnerTexts()).slice(0, 3)).toEqual(shown);
    await expect.poll(() => cells.last().innerText()).toBe('1 May 2124');
    expect(await sims.getByRole('link', { name: '1', exact: true }).count()).toBe(0);
    const example = sims.getByRole('link', { name: shared.iccid });
    await expect.poll(async () => (await example.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    await example.click();
    await page.waitForURL((url) => url.pathname === '/console/subscriptions');
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('iccid'), searchParams.get('status')]).toEqual([shared.iccid, 'ACTIVE']);
    await page.goBack();
    await group('Product with the period 0').getByRole('link', { name: '<b>Zero</b>' }).click();
    await page.getByRole('complementary').getByText('<b>Zero</b>').first().waitFor();
  });

  test('a number whose records a filter selects opens the list, and kinds without records are folded', async () => {
    page = await console.open('/console/findings');
    await group('No status').getByRole('link', { name: '1', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/console/subscriptions');
    expect(new URL(page.url()).searchParams.get('status')).toBe('none');
    await page.goBack();
    const folded = page.getByText('Active past its end: 0');
    await folded.waitFor({ state: 'attached' });
    await expect.poll(() => folded.isVisible()).toBe(false);
    await page.getByText(/^\d kinds have no finding$/).click();
    await expect.poll(() => folded.isVisible()).toBe(true);
    expect(await group('Active past its end').count()).toBe(0);
  });
});
