import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';

// Jobs of people who ask a whole question: a step is a click, a key, or something pasted.

const iccids = Array.from({ length: 200 }, (_, n) => String(8_944_500_102_198_300_000n + BigInt(n)));
const rows = rowsOf(400).map((row, index) => ({ ...row, iccid: String(iccids[index % iccids.length]) }));

describe.skipIf(!hasChromium)('questions in a browser', () => {
  let reports: ReportConsole;
  let page: Page;

  beforeAll(async () => {
    reports = await startReportConsole(rows);
  });
  afterAll(() => reports.close());
  afterEach(() => page.context().close());

  const open = async (path: string, options = {}): Promise<void> => {
    page = await reports.open(path, options);
  };
  /** Pastes a text as the browser does, without a permission for the clipboard. */
  const paste = (text: string): Promise<void> =>
    page.evaluate((pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', pasted);
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      );
    }, text);

  test('the subscriptions of 200 SIMs take three steps, and those that are not found are named', async () => {
    const unknown = ['8944500102198399998', '8944500102198399999'];
    const asked = [...iccids.slice(0, 198), ...unknown];
    const expected = rows.filter(({ iccid }) => asked.includes(iccid)).length;
    await open('/console/');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'ICCID, email address' }).waitFor();
    await paste(`ICCID\r\n${asked.join('\r\n')}\r\n`);
    await page.getByRole('option', { name: 'Subscriptions with any of 200 ICCIDs' }).waitFor();
    await page.keyboard.press('Enter');

    await page.getByText(`${expected} subscriptions, newest first, of a list of 200 ICCIDs`).first().waitFor();
    await page.getByText(`198 of 200 ICCIDs found; not found: ${unknown.join(', ')}`).waitFor();
    expect(new URL(page.url()).search).toBe('?list=iccid');
    expect(requests.filter((url) => url.includes(String(asked[0])))).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('button', { name: 'Next page' }).first().click();
    await page.getByRole('textbox', { name: 'Page' }).first().waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?page=2&list=iccid');
    await page.getByText(`198 of 200 ICCIDs found`).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Which ICCIDs?' }).waitFor();
    await page.getByRole('textbox', { name: 'ICCIDs' }).fill(asked.slice(0, 3).join('\n'));
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('3 of 3 ICCIDs found').waitFor();
  });
});
