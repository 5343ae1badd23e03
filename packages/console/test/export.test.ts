import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Download, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { instantOf, readWorkbook } from '../../../test/support/read-workbook.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';
import { localDateTime } from '../../../test/support/zoned.ts';
import type { Subscription } from '../../client/index.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../client/test/faulty-proxy.ts';
import { recordColumns } from '../../contract/csv.ts';

const rows = rowsOf(4000);

describe.skipIf(!hasChromium)('exports in a browser', () => {
  let console: ReportConsole;
  let proxy: FaultyProxy;
  /** What happens to the following exports. */
  let fault: Fault | undefined;
  let token: string;
  let page: Page;

  beforeAll(async () => {
    console = await startReportConsole(rows);
    token = await console.service.accessToken(console.client);
    proxy = await startFaultyProxy(console.service.url, ({ path }) => (/[?&]all=true/.test(path) ? fault : undefined));
  });
  afterAll(async () => {
    await proxy.close();
    await console.close();
  });
  afterEach(async () => {
    fault = undefined;
    await page.context().close();
  });

  /** Opens the subscriptions in a browser that downloads files or saves to a chosen one. */
  async function openSubscriptions(query = '', saves: 'downloads' | 'picker' = 'downloads'): Promise<void> {
    page = await console.open(`/console/subscriptions${query}`, {
      origin: proxy.url,
      prepare: (opened) =>
        opened.addInitScript((withPicker) => {
          // a test cannot use the dialog of the browser: files of the origin are as real
          const pick = async ({ suggestedName }: { suggestedName: string }) =>
            (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });
          Object.assign(window, { showSaveFilePicker: withPicker ? pick : undefined });
        }, saves === 'picker'),
    });
    await page.getByRole('button', { name: 'Export' }).waitFor();
  }
  const choose = async (format: string): Promise<void> => {
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: format }).click();
  };
  async function download(format: string): Promise<{ file: Buffer; name: string }> {
    const started: Promise<Download> = page.waitForEvent('download');
    await choose(format);
    const saved = await started;
    return { file: await readFile(await saved.path()), name: saved.suggestedFilename() };
  }
  const fromApi = async (query: string): Promise<Buffer> => {
    const response = await console.service.get(`/v1/subscription?all=true&sort=-createdDate&${query}`, token);
    return Buffer.from(await response.arrayBuffer());
  };

  test('a CSV file has the bytes of the API for the same filter', async () => {
    await openSubscriptions('?status=ACTIVE');
    const { file, name } = await download('CSV');
    expect(name).toMatch(/^acme-subscriptions-status-ACTIVE-\d{8}T\d{6}Z\.csv$/);
    expect(file.equals(await fromApi('format=csv&status=ACTIVE'))).toBe(true);
  });

  test('a file for an email address has the records of the search, and no URL has the address', async () => {
    const email = rows[0]?.email ?? '';
    await openSubscriptions();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await page.getByText(`subscriber ${email}`).first().waitFor();
    const { file, name } = await download('CSV');
    const response = await fetch(`${console.service.baseUrl}/v1/subscription/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, all: true, format: 'csv', sort: '-createdDate' }),
    });
    expect(file.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    expect(file.toString().split('\r\n').length).toBeGreaterThan(2);
    expect([name, page.url(), ...urls].filter((url) => decodeURIComponent(url).includes(email))).toEqual([]);
  });

  test('an NDJSON file has the records of the API without the summary line, and the page has its checksum', async () => {
    await openSubscriptions();
    const { file } = await download('NDJSON');
    const sent = String(await fromApi('format=ndjson'));
    expect(String(file)).toBe(sent.slice(0, sent.lastIndexOf('{"summary"')));
    await page.getByRole('link', { name: 'All exports' }).click();
    await page.getByText('Complete: 4,000 rows, exactly as the service sent them.', { exact: true }).waitFor();
    await page.getByText(createHash('sha256').update(file).digest('hex')).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('a workbook has the records of the API, with the ICCID as text and the dates as dates', async () => {
    await openSubscriptions('?status=DEPLETED');
    const { file, name } = await download('Excel');
    expect(name).toMatch(/\.xlsx$/);
    const [, ...sheet] = readWorkbook(file);
    const lines = String(await fromApi('format=ndjson&status=DEPLETED'))
      .trim()
      .split('\n')
      .slice(0, -1);
    const records: Subscription[] = lines.map((line) => JSON.parse(line));
    const column = (row: (typeof sheet)[number], of: string) =>
      row[recordColumns.indexOf(of)] ?? { type: undefined, value: '', format: '' };
    expect(records.length).toBeGreaterThan(100);
    expect(
      sheet.map((row) => [
        column(row, 'id').value,
        column(row, 'iccid').value,
        column(row, 'iccid').type,
        instantOf(column(row, 'expirationDate')),
        column(row, 'product.name').value,
      ]),
    ).toEqual(
      records.map(({ id, iccid, expirationDate, product }) => [id, iccid, 'inlineStr', expirationDate, product.name]),
    );
  });

  test('a workbook has the dates of the zone of the pages, if they are chosen, and its headings name it', async () => {
    await openSubscriptions('?status=DEPLETED&zone=Asia/Kathmandu');
    await page.getByRole('button', { name: 'Export' }).click();
    const excel = page.getByRole('menuitem', { name: 'Excel' });
    await expect.poll(() => excel.innerText()).toContain('dates in UTC');
    await page.getByRole('checkbox', { name: 'Dates of CSV and Excel in Asia/Kathmandu' }).check();
    await expect.poll(() => excel.innerText()).toContain('dates in Asia/Kathmandu');
    const started: Promise<Download> = page.waitForEvent('download');
    await excel.click();
    const [headings, ...sheet] = readWorkbook(await readFile(await (await started).path()));
    const at = recordColumns.indexOf('createdDate');
    expect(headings?.[at]?.value).toBe('Created (Asia/Kathmandu)');
    const csv = String(await fromApi('format=csv&status=DEPLETED&fields=createdDate'))
      .trim()
      .split('\r\n')
      .slice(1);
    expect(sheet.map((row) => row[at] && instantOf(row[at]).slice(0, 19))).toEqual(
      csv.map((date) => localDateTime(date, 'Asia/Kathmandu').slice(0, 19)),
    );
    const inUtc: Promise<Download> = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: 'NDJSON' }).click();
    expect(await readFile(await (await inUtc).path(), 'utf8')).not.toContain('+05:45');
  });

  const savedFiles = (): Promise<{ name: string; text: string }[]> =>
    page.evaluate(async () => {
      const files: { name: string; text: string }[] = [];
      for await (const [name, handle] of (await navigator.storage.getDirectory()) as FileSystemDirectoryHandle &
        AsyncIterable<[string, FileSystemFileHandle]>)
        files.push({ name, text: await (await handle.getFile()).text() });
      return files;
    });

  test.each(['CSV', 'Excel'])(
    'a transfer of %s that is cut leaves no file, and again saves all of it to the chosen one',
    async (format) => {
      await openSubscriptions('', 'picker');
      fault = 'cut';
      await choose(format);
      await page.getByText('The file is incomplete and was not saved.', { exact: true }).waitFor();
      expect(await savedFiles()).toEqual([]);
      fault = undefined;
      await page.getByRole('link', { name: 'All exports' }).click();
      await page.getByRole('alert').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Export again' }).click();
      await page.getByText('Complete: 4,000 rows, exactly as the service sent them.', { exact: true }).waitFor();
      const [saved, ...others] = await savedFiles();
      expect(others).toEqual([]);
      if (format === 'CSV') expect(saved?.text).toBe(String(await fromApi('format=csv')));
    },
  );

  test('an export goes on while the user moves to another page, shows how far it is, and can be cancelled', async () => {
    await openSubscriptions('', 'picker');
    fault = 'stall';
    await choose('NDJSON');
    const bar = page.getByRole('progressbar', { name: /ndjson$/ });
    await expect.poll(() => bar.getAttribute('value').then(Number)).toBeGreaterThan(0);
    await expect.poll(() => bar.getAttribute('max')).toBe('4000');
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor();
    await page.getByText(/^[\d,]+ of 4,000 rows$/).waitFor();
    const abandoned = page.waitForEvent('requestfailed', (request) => request.url().includes('all=true'));
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled. No file was saved.', { exact: true }).waitFor();
    await abandoned;
    expect(await savedFiles()).toEqual([]);
  });
});
