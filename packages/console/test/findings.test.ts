import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';

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

  test('each opens its records, and the page breaks no rule of accessibility', async () => {
    page = await console.open('/console/findings');
    const sims = page.getByRole('region', { name: 'ICCIDs with several active subscriptions' });
    await sims.getByRole('link', { name: shared.iccid }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const target = await sims.getByRole('link', { name: shared.iccid }).boundingBox();
    expect(target?.height).toBeGreaterThanOrEqual(24);
    await sims.getByRole('link', { name: shared.iccid }).click();
    await page.waitForURL((url) => url.pathname === '/console/subscriptions');
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('iccid'), searchParams.get('status')]).toEqual([shared.iccid, 'ACTIVE']);
    await page.goBack();
    const period = page.getByRole('region', { name: 'Product with the period 0' });
    await period.getByRole('link', { name: 'dHdv' }).click();
    await page.getByRole('complementary').getByText('<b>Zero</b>').first().waitFor();
  });

  test('a kind that a filter selects opens the list, and one without records says so', async () => {
    page = await console.open('/console/findings');
    const status = page.getByRole('region', { name: 'No status' });
    await status.getByRole('link', { name: 'Show as a list' }).click();
    await page.waitForURL((url) => url.pathname === '/console/subscriptions');
    expect(new URL(page.url()).searchParams.get('status')).toBe('none');
    await page.goBack();
    const ends = page.getByRole('region', { name: 'Active past its end' });
    await ends.getByText('None').waitFor();
    expect(await ends.getByRole('link').count()).toBe(0);
  });
});
