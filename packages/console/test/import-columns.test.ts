import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CorpusFile, corpus } from '../../../test/corpus/files.ts';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { drawPart } from '../../../test/support/draw.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { storedRecords } from '../../../test/support/stored-records.ts';
import type { TenantId } from '../../service/storage/store.ts';
import { setColumnsStatement } from '../../service/storage/tables/tenant.ts';

const iccid = '8944500102198304826';
/** The file of a billing system, with its own columns. */
const billing = [
  'SIM;SUB;OPENED;ENDS;TARIFF;NOTE',
  `${iccid};7;2024-05-01 08:00:00+00;2024-05-31T08:00:00Z;p30;"a;b"`,
  '8944500102198304834;8;2024-05-01 08:00:00+00;2024-05-31T08:00:00Z;p30;',
].join('\r\n');
const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(content as string),
});

describe.skipIf(!hasChromium)("the columns of a file in the operator's console", () => {
  let consoles: BothConsoles;
  let page: Page;

  beforeAll(async () => {
    consoles = await startBothConsoles([]);
    page = await (await consoles.browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await consoles.signInOperator(page);
  });
  afterAll(() => consoles.close());

  const open = (tenant: string) => page.goto(`${consoles.operatorUrl}/console/tenants/${tenant}`);
  const choose = (name: string, content: string | Buffer) =>
    page.locator('input[type=file]').setInputFiles(file(name, content));
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const select = (field: string) => page.getByLabel(field, { exact: true });
  const storedIn = (tenant: TenantId) => storedRecords(consoles.service.store, tenant);

  test('are chosen, with values for what it lacks, and its first rows are shown before it is loaded', async () => {
    await open('acme');
    await choose('billing.csv', billing);
    await page.getByText('Choose a column or a value: id, activationDate').waitFor();
    await expect.poll(() => button('Check the file').isDisabled()).toBe(true);
    for (const [field, column] of [
      ['id', 'SUB'],
      ['iccid', 'SIM'],
      ['createdDate', 'OPENED'],
      ['activationDate', 'OPENED'],
      ['expirationDate', 'ENDS'],
      ['product.id', 'TARIFF'],
    ] as const)
      await select(`${field} (required)`).selectOption(column);
    await select('device_id (required)').selectOption('One value for all rows');
    await select('auto_renew (required)').selectOption('One value for all rows');
    await select('Value of auto_renew').fill('false');
    expect(await select('iccid (required)').locator('option').allInnerTexts()).not.toContain('One value for all rows');
    await button('Check the file').click();
    const preview = page.getByRole('table', { name: 'The first rows, as they would be stored' });
    await preview.getByRole('row', { name: `iccid ${iccid} 8944500102198304834` }).waitFor();
    await preview.getByRole('row', { name: 'createdDate 2024-05-01T08:00:00Z' }).waitFor();
    expect(await storedIn('acme' as TenantId)).toEqual([]);
    for (const width of [1280, 320])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        expect([width, colorScheme, await accessibilityFaults(page)]).toEqual([width, colorScheme, []]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([width, overflow <= 0]).toEqual([width, true]);
      }
    await page.setViewportSize({ width: 1280, height: 900 });
    await button('Import 2 rows').click();
    await page.getByRole('heading', { name: 'Loaded', exact: true }).waitFor();
    expect(await storedIn('acme' as TenantId)).toMatchObject([
      { id: '7', iccid, device_id: '', auto_renew: 'false', product: { id: 'p30' } },
      { id: '8' },
    ]);
  });

  test('are offered again at the next import, and shown in the history', async () => {
    await open('acme');
    await choose('billing.csv', billing);
    await button('Check the file').click();
    await page.getByRole('heading', { name: 'Checked, nothing was changed' }).waitFor();
    await expect.poll(() => select('Value of auto_renew').inputValue()).toBe('false');
    const time = page.getByRole('table', { name: 'Imports' }).locator('a time').first();
    await time.hover();
    await page.locator('#tooltip').waitFor();
    await time.click();
    await page.getByText('iccid: SIM').waitFor();
    await page.locator('#tooltip').waitFor({ state: 'hidden' });
    await page.getByText('auto_renew = "false"').waitFor();
  });

  test('have codes, whose meanings are chosen once, in an encoding that is named', async () => {
    const tenant = await consoles.service.createTenant('codes');
    const lines = (rows: number) => [
      'id,status,iccid,createdDate,activationDate,expirationDate,product.id,product.name,product.period_unit,device_id,auto_renew',
      ...Array.from({ length: rows }, (_, n) => {
        const [status, unit, renewal] = n % 2 === 0 ? ['A', 'D', 'yes'] : ['X', 'M', 'ja'];
        const dates = '2024-05-01T08:00:00Z,2024-05-01T08:00:00Z,2024-05-31T08:00:00Z';
        return `${n},${status},${iccid},${dates},p,\xa3\xf3d\x9f,${unit},,${renewal}`;
      }),
      `last,Q,${iccid},2024-05-01T08:00:00Z,2024-05-01T08:00:00Z,2024-05-31T08:00:00Z,p,,D,,true`,
    ];
    await open('codes');
    await choose('codes.csv', Buffer.from(lines(10_000).join('\n'), 'latin1'));
    await page.getByText('looked for in the first 10,000 rows').waitFor();
    await select('Encoding').selectOption('windows-1250');
    const meanings = {
      ...{ 'status "A"': 'ACTIVE', 'status "X"': 'EXPIRED' },
      ...{ 'product.period_unit "D"': 'DAYS', 'product.period_unit "M"': 'MONTHS', 'auto_renew "ja"': 'true' },
    };
    for (const [value, meaning] of Object.entries(meanings)) await select(`${value} means`).fill(meaning);
    await expect.poll(() => page.getByLabel(/ means$/).count()).toBe(5);
    await button('Check the file').click();
    await page.getByRole('row', { name: /^Line 10,002 status "Q" in 'values' of the mapping, as / }).waitFor();
    await button('Import 10,000 rows').click();
    await page.getByRole('heading', { name: '10,000 loaded, 1 rejected' }).waitFor();
    await page.getByText('Read as windows-1250').waitFor();
    const product = { id: 'p', name: 'Łódź', period_unit: 'MONTHS' };
    expect((await storedIn(tenant))[1]).toMatchObject({ id: '1', status: 'EXPIRED', product, auto_renew: 'true' });
    await page.getByRole('table', { name: 'Imports' }).locator('a time').first().click();
    await page.getByText('product.period_unit: "M" = "MONTHS"').waitFor();
    await open('codes');
    await choose('codes.csv', lines(1).join('\n'));
    await expect.poll(() => select('status "A" means').inputValue()).toBe('ACTIVE');
    await expect.poll(() => select('status "Q" means').inputValue()).toBe('');
  });

  test('with the names of the fields need no choice', async () => {
    await open('acme');
    await choose('plain.csv', 'id,iccid,createdDate,activationDate,expirationDate,product.id,device_id,auto_renew\n');
    await page.getByText('Columns: each has the name of its field').click();
    // the saved values of these fields do not replace their columns
    for (const field of ['auto_renew', 'device_id'])
      await expect.poll(() => select(`${field} (required)`).inputValue()).toBe(`column ${field}`);
  });

  /** Files that the form understands, as it finds the fields of their columns. */
  const understood = ['a mapping of another file'];

  /** What a file must become in the form. */
  test('of a file that cannot be read any more leave its check open, which says so', async () => {
    await open('acme');
    await page.evaluate(() => {
      Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('The file is gone', 'NotReadableError'));
    });
    await choose('removed.csv', billing);
    await expect.poll(() => button('Check the file').isEnabled()).toBe(true);
    await button('Check the file').click();
    await page.getByRole('alert').waitFor();
  });

  async function load({ format, bytes, columns, expected, imitates }: CorpusFile, tenant: TenantId): Promise<void> {
    if (columns !== undefined)
      await consoles.service.store.writeDirectory([setColumnsStatement(tenant, columns.replaceAll(/\s*\n\s*/g, ''))]);
    await open(tenant);
    await choose(`rows.${format}`, bytes);
    await button('Check the file').waitFor();
    const isRefused = 'refused' in expected && !understood.includes(imitates);
    const missing = page.getByText('Choose a column or a value: ');
    const settled = button(/^Check the file|^Import /);
    await expect.poll(async () => (await settled.first().isEnabled()) || (await missing.count()) > 0).toBe(true);
    if ((await missing.count()) > 0) return expect([imitates, isRefused]).toEqual([imitates, true]);
    await button('Check the file').click();
    const alert = page.getByRole('alert');
    const heading = page.getByRole('heading', { name: /nothing was changed/ });
    await alert.or(heading).first().waitFor();
    if (isRefused) {
      await expect
        .poll(async () => [imitates, await alert.innerText()])
        .toEqual([imitates, expect.stringContaining(expected.refused)]);
      return;
    }
    for (const note of ('notes' in expected && expected.notes) || []) await page.getByText(note).waitFor();
    const importing = button(/^Import [\d,]+ rows?$/);
    if ((await importing.count()) === 0) {
      expect([imitates, 'records' in expected && expected.records]).toEqual([imitates, []]);
      return;
    }
    await importing.click();
    await page.getByRole('heading', { name: /^Loaded|loaded, / }).waitFor();
  }

  test.each(drawPart(corpus, 8).map((each, n) => [each.imitates, each, n] as const))(
    'a file of the corpus is loaded whole by the form, or refused: %s',
    async (_title, each, n) => {
      const tenant = await consoles.service.createTenant(`c${n}`);
      await load(each, tenant);
      const stored = await storedIn(tenant);
      // the mapping has no meaning for the status of one
      if (understood.includes(each.imitates)) expect(stored).toHaveLength(2);
      else if ('refused' in each.expected) expect(stored).toEqual([]);
      else expect(stored).toEqual(each.expected.records.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    },
  );
});
