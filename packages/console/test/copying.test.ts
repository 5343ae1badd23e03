import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { focusPasteArea, type Pasted } from '../../../test/support/paste-area.ts';
import { rowsOf } from '../../../test/support/report-console.ts';
import { formatDay } from '../ui/format-date.ts';

const day = 86_400_000;
const formula = '=HYPERLINK("http://example.com","<b>1 & 2</b>")';
/** The newest is the first of the page; each ends within a few days. */
const records = rowsOf(6)
  .toReversed()
  .map((row, index) => ({
    ...row,
    status: 'ACTIVE',
    device_id: index === 0 ? formula : `device-${index}`,
    expirationDate: `${new Date(Date.now() + (index + 2) * day).toISOString().slice(0, 19)}Z`,
  }));
const linesOf = ({ text }: Pasted) => text.split('\n').map((line) => line.split('\t'));
const heads = ['Status', 'Product', 'ICCID', 'Device', 'Created', 'Ends', 'Renews'];
const copied = records.map(({ product, iccid, device_id, createdDate, expirationDate, auto_renew }) => [
  'Active',
  product.name ?? '',
  iccid,
  device_id,
  ...[createdDate, expirationDate].map((date) => formatDay(new Date(date))),
  auto_renew === 'true' ? 'Yes' : 'No',
]);

describe.skipIf(!hasChromium)('a copied selection', () => {
  let consoles: BothConsoles;
  let page: Page;
  beforeAll(async () => {
    consoles = await startBothConsoles(records);
  });
  afterAll(() => consoles.close());

  const openList = async (): Promise<void> => {
    page = await consoles.open('/console/subscriptions');
    await page.locator('[data-row]').nth(5).waitFor();
  };
  const cell = (row: number, name: string): Locator => page.locator('[data-row]').nth(row).locator(`.column-${name}`);
  async function drag(from: Locator, to: Locator): Promise<void> {
    const [start, end] = [await from.boundingBox(), await to.boundingBox()];
    if (start === null || end === null) expect.unreachable();
    await page.mouse.move(start.x + 14, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + 60, end.y + end.height / 2, { steps: 5 });
    await page.mouse.up();
  }
  async function copy(): Promise<Pasted> {
    await page.keyboard.press('ControlOrMeta+c');
    await page.evaluate(focusPasteArea);
    await page.keyboard.press('ControlOrMeta+v');
    await page.waitForFunction('window.pasted');
    return page.evaluate('[window.pasted, delete window.pasted][0]');
  }

  test('of several cells is their rows, whole: as text, and as text cells of a spreadsheet', async () => {
    await openList();
    await drag(cell(0, 'device'), cell(1, 'created'));
    const pasted = await copy();
    const expected = [heads, ...copied.slice(0, 2)];
    expect(linesOf(pasted)).toEqual(expected);
    expect(pasted.cells).toEqual(expected.flat().map((each) => [each, "mso-number-format:'\\@'", '1033;0;@']));
    await page.locator('.shown-message', { hasText: '2 rows copied' }).waitFor();
  });

  test('of the whole page is the rows of its only table, with the columns that are shown', async () => {
    await openList();
    await page.setViewportSize({ width: 1024, height: 800 });
    const shown = [heads, ...copied].map((line) => line.filter((_, column) => heads[column] !== 'Device'));
    await expect.poll(() => page.getByRole('columnheader').allInnerTexts()).toEqual(shown[0]);
    await page.keyboard.press('ControlOrMeta+a');
    expect(linesOf(await copy())).toEqual(shown);
    await page.setViewportSize({ width: 600, height: 800 });
    await page.locator('.record-list').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    expect(linesOf(await copy())).toEqual(
      copied.map(([status, product, iccid, , , end, renews]) => [
        product,
        status,
        iccid,
        `ends ${end}${renews === 'Yes' ? ', renews' : ''}`,
      ]),
    );
  });

  test('within one cell, or of a field, is what the browser copies', async () => {
    await openList();
    const device = cell(1, 'device');
    await device.evaluate((td) => getSelection()?.setBaseAndExtent(td, 0, td.nextElementSibling ?? td, 0));
    expect((await copy()).text.trim()).toBe('device-1');
    await drag(cell(0, 'device'), cell(2, 'device'));
    await page.getByRole('textbox', { name: 'Page' }).first().focus();
    expect((await copy()).text).toBe('1');
  });

  test("in the operator's console is the rows of the table, with times to the minute", async () => {
    await consoles.importFaultyRow();
    page = await (await consoles.browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    await consoles.signInOperator(page);
    await page.goto(`${consoles.operatorUrl}/console/imports`);
    await page.getByRole('row', { name: /rejected/ }).waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    const [labels, ...rows] = linesOf(await copy());
    expect(labels).toEqual(await page.getByRole('columnheader').allInnerTexts());
    expect(rows).toEqual([
      [
        expect.stringMatching(/^\d+ \w{3} \d{4}, \d\d:\d\d$/),
        'acme',
        '1 loaded, 1 rejected',
        '2',
        '1',
        '1',
        '0',
        'ada',
      ],
    ]);
    await page.goto(`${consoles.operatorUrl}/console/tenants`);
    await page.getByRole('button', { name: 'Records' }).click();
    await page.keyboard.press('ControlOrMeta+a');
    expect(linesOf(await copy())[0]?.slice(0, 2)).toEqual(['Name', 'Records']);
  });
});
