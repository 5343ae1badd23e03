import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';
import { runHere } from '../../../test/support/run-here.ts';
import type { TenantId } from '../../service/storage/store.ts';
import { groupIccid } from '../report/words/iccid.ts';
import { formatMinute } from '../ui/format-date.ts';

// Jobs of people who ask a whole question: a step is a click, a key, or something pasted.

const iccids = Array.from({ length: 200 }, (_, n) => String(8_944_500_102_198_300_000n + BigInt(n)));
const rows = rowsOf(400).map((row, index) => ({ ...row, iccid: String(iccids[index % iccids.length]) }));

describe.skipIf(!hasChromium)('questions in a browser', () => {
  let reports: ReportConsole;
  let page: Page;
  let token: string;

  beforeAll(async () => {
    reports = await startReportConsole(rows);
    await reports.ageLoads(Math.floor(Date.now() / 1000) - 180 * 86_400);
    // what has changed since: 100 records have another status, and 20 are new
    await reports.load(rows.slice(0, 100).map((row) => ({ ...row, status: 'CHANGED' })));
    await reports.load(rowsOf(20).map((row, index) => ({ ...row, id: `new-${index}` })));
    token = await reports.service.accessToken(reports.client);
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
    await paste(`ICCID\r\n${asked.map(groupIccid).join('\r\n')}\r\n`);
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
    await page.getByRole('textbox', { name: 'ICCIDs' }).fill(asked.slice(0, 3).map(groupIccid).join(', '));
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('3 of 3 ICCIDs found').waitFor();
  });

  test('the report of last month takes two steps, and stays while one moves', async () => {
    const month = `${new Date().toISOString().slice(0, 7)}-01T00:00:00Z`;
    const words = `as of ${formatMinute(month)} UTC`;
    await open('/console/');
    const total = page.getByRole('link', { name: /^Subscriptions\s*\d+$/ });
    await total.filter({ hasText: '420' }).waitFor();
    const changedBar = page.getByRole('table', { name: 'All by status' }).getByRole('link', { name: /^changed/i });
    await changedBar.waitFor();

    await page.getByRole('button', { name: 'Time of the report: Now' }).click();
    await page.getByRole('button', { name: 'End of last month' }).click();

    await total.filter({ hasText: '400' }).waitFor();
    expect(new URL(page.url()).search).toBe('?as-of=this-month');
    await changedBar.waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.getByText(`400 subscriptions, newest first, ${words}`).first().waitFor();
    await page.getByText('The first 20 of 400. The past has no pages: Export saves all of them.').waitFor();
    const past = await reports.service.get(
      `/v1/subscription?all=true&format=ndjson&sort=-createdDate&as-of=${month}`,
      token,
    );
    const records = (await past.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    const links = page.getByRole('table', { name: 'Subscriptions' }).locator('[data-row]');
    await expect
      .poll(() => links.evaluateAll((all) => all.map((row) => row.getAttribute('data-row'))))
      .toEqual(records.slice(0, 20).map(({ id }) => id));
    expect(await accessibilityFaults(page)).toEqual([]);

    const changed = rows[0]?.id ?? '';
    await page.goto(`${reports.service.url}/console/subscriptions/${encodeURIComponent(changed)}?as-of=this-month`);
    const panel = page.getByRole('complementary');
    await panel.getByText(`/subscription/${encodeURIComponent(changed)}?as-of=`).waitFor({ state: 'attached' });
    expect(await panel.locator('.record-status').innerText()).not.toContain('CHANGED');

    await page.goto(`${reports.service.url}/console/subscriptions?as-of=this-month&by=status`);
    await page.getByText(`400 subscriptions by status, ${words}`).first().waitFor();
    expect(await page.getByRole('row', { name: /CHANGED/ }).count()).toBe(0);

    for (const name of ['Changes', 'Findings']) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByRole('heading', { name: 'This page shows the present only' }).waitFor();
    }
    await page.getByRole('button', { name: 'Show the present' }).click();
    await page.waitForURL(/findings$/);
    await page.getByText('What is contradictory or missing in 420 subscriptions').waitFor();
  });

  test('a page of the past that is left ends its requests, so that no other page waits for them', async () => {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    // at least as many as the store has threads for the reads of a tenant
    const readings = Array.from({ length: availableParallelism() + 2 }, () =>
      reports.service.store.readTenant('acme' as TenantId, () => {
        held.resolve();
        return gate.promise;
      }),
    );
    await held.promise;
    const asked = new Set<string>();
    const ended: string[] = [];
    const finished: string[] = [];
    const isPast = (url: string): boolean => url.includes('connect-api') && url.includes('as-of=');
    await open('/console/?as-of=this-month', {
      prepare: async (opened: Page) => {
        opened.on('request', (request) => isPast(request.url()) && asked.add(request.url()));
        opened.on('requestfailed', (request) => asked.has(request.url()) && ended.push(request.url()));
        opened.on('requestfinished', (request) => finished.push(request.url()));
      },
    });
    await expect.poll(() => asked.size).toBeGreaterThan(3);
    const ofOverview = [...asked];
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    // those that another reader of the store had responded to have finished
    await expect.poll(() => ofOverview.filter((url) => ![...ended, ...finished].includes(url))).toEqual([]);
    expect(ended.length).toBeGreaterThan(0);
    gate.resolve();
    await Promise.all(readings);
    await page.getByText('The first 20 of 400.').waitFor();
  });

  test('a time that has no past is refused, and so is a page of the past', async () => {
    await open('/console/?as-of=2999-01-01');
    await page.getByRole('heading', { name: 'This time cannot be shown' }).waitFor();
    await page.goto(`${reports.service.url}/console/subscriptions?as-of=this-month&page=2`);
    await page.getByText('omitted with as-of: the past has no pages').waitFor();
  });

  test('nothing is requested of a time before the history begins, so no request is refused', async () => {
    const statuses: string[] = [];
    const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
    await open(`/console/?as-of=${day(178)}`, {
      prepare: async (opened: Page) =>
        opened.on('response', (response) => statuses.push(`${response.status()} ${response.url()}`)),
    });
    await page
      .getByRole('link', { name: /^Subscriptions\s*\d+$/ })
      .filter({ hasText: '400' })
      .waitFor();
    await page.goto(`${reports.service.url}/console/changes?since=${day(300)}`);
    await page
      .getByText('The first report that the service keeps is of that time. Earlier changes are not counted.')
      .waitFor();
    await page.goto(`${reports.service.url}/console/subscriptions?as-of=2001-01-01`);
    await page.getByRole('heading', { name: 'This time cannot be shown' }).waitFor();
    await page.getByText(/^The history of the service begins at \d+ \w+ \d{4}, \d\d:\d\d UTC/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(statuses.filter((line) => Number(line.slice(0, 3)) >= 400)).toEqual([]);
    expect(statuses.filter((line) => line.includes('as-of=')).length).toBeGreaterThan(3);
  });

  /** The arguments that a shell passes to a command, and its standard input. */
  function argumentsOf(command: string, name: string): { args: string[]; input: string } {
    const script = `${name}() { for argument in "$@"; do printf '%s\\0' "$argument"; done; [ -t 0 ] || cat; }; ${command}`;
    const parts = execFileSync('sh', ['-c', script], { encoding: 'utf8', input: '' }).split('\0');
    return { args: parts.slice(0, -1), input: parts.at(-1) ?? '' };
  }

  const copied = async (label: string): Promise<string> => {
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void Object.assign(window, { copiedText: text });
    });
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: label }).click();
    await page.getByText('Copied').first().waitFor();
    await page.keyboard.press('Escape');
    return page.evaluate(() => (window as typeof window & { copiedText: string }).copiedText);
  };

  async function downloaded(): Promise<Buffer> {
    const started = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    return readFile(await (await started).path());
  }

  const withDownloads = {
    prepare: (opened: Page) => opened.addInitScript(() => Object.assign(window, { showSaveFilePicker: undefined })),
  };

  /** The bytes of the page's export, of its command and of its curl command. */
  async function threeFiles(): Promise<readonly Buffer[]> {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-questions-'));
    try {
      const curl = (await copied('Copy as curl')).replace('$ACCESS_TOKEN', token);
      await promisify(execFile)('sh', ['-c', curl], { cwd: folder }); // this process serves it
      const fromCurl = await readFile(join(folder, 'subscriptions.csv'));
      const { args, input } = argumentsOf(await copied('Copy as command'), 'subreport');
      const file = join(folder, 'of-the-command.csv');
      const { stderr } = await runHere(
        args.map((arg) => (arg === 'subscriptions.csv' ? file : arg)),
        {
          SUBREPORT_URL: reports.service.url,
          SUBREPORT_CLIENT_ID: reports.client.client_id,
          SUBREPORT_CLIENT_SECRET: reports.client.client_secret,
          XDG_CONFIG_HOME: folder,
        },
        input,
      );
      expect(stderr).toContain('The question: ');
      await page.getByRole('button', { name: 'Export' }).first().click();
      return [await downloaded(), await readFile(file), fromCurl];
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test('the month-end file takes four steps, and then one click on the page of its link', async () => {
    await open('/console/subscriptions?status=ACTIVE', withDownloads);
    await page.getByRole('button', { name: 'Time of the report: Now' }).click();
    await page.getByRole('button', { name: 'End of last month' }).click();
    await page
      .getByText(/status Active, as of 1 /)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Export' }).first().click();
    const once = await downloaded();
    expect(once.toString().split('\r\n')[0]).toContain('id,');

    await page.goto(
      `${reports.service.url}/console/subscriptions?status=ACTIVE&as-of=this-month&fields=iccid,status&zone=Europe/Berlin`,
    );
    await page
      .getByText(/status Active, as of 1 .*, 00:00 Europe\/Berlin$/)
      .first()
      .waitFor();
    await expect.poll(() => page.getByRole('columnheader').allInnerTexts()).toEqual(['Status', 'Product', 'ICCID']);
    const link = await copied('Copy link');
    expect(link).toBe(page.url());
    expect(await accessibilityFaults(page)).toEqual([]);
    const files = await threeFiles();
    expect(files[0]?.toString().split(/\r?\n/)[0]).toBe('iccid,status');
    expect(files.map((file) => file.equals(files[0] as Buffer))).toEqual([true, true, true]);
    expect(files[0]?.length).toBeGreaterThan(1_000);
  });

  test('the month-end file in Berlin time is one choice more, which the next export and both commands keep', async () => {
    const search = 'status=ACTIVE&fields=id,createdDate&zone=Europe/Berlin';
    await open(`/console/subscriptions?${search}`, withDownloads);
    await page.getByRole('button', { name: 'Export' }).first().click();
    const choice = page.getByRole('checkbox', { name: 'Dates of CSV and Excel in Europe/Berlin' });
    expect(await choice.isChecked()).toBe(false);
    expect((await downloaded()).toString()).toMatch(/^id,createdDate\r\n([\w=-]+,[\dT:-]{19}Z\r\n)+$/);
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await choice.check();
    expect(await accessibilityFaults(page)).toEqual([]);
    const once = await downloaded();
    expect(once.toString()).toMatch(/^id,createdDate\r\n([\w=-]+,\d{4}-\d\d-\d\dT[\d:]{8}\+0[12]:00\r\n)+$/);
    await page.reload();
    await page.getByRole('columnheader').first().waitFor();
    const command = await copied('Copy as command');
    expect(command).toContain('--dates local');
    const files = [once, ...(await threeFiles())];
    expect(files.map((file) => file.equals(once))).toEqual([true, true, true, true]);
    await open('/console/subscriptions?fields=id,createdDate', withDownloads);
    await page.getByRole('button', { name: 'Export' }).first().click();
    expect(await page.getByRole('checkbox', { name: /^Dates of CSV/ }).count()).toBe(0);
    expect((await downloaded()).toString()).not.toContain('+0');
  });

  test('a list and its columns are the same bytes by page, command and curl', async () => {
    await open('/console/subscriptions', withDownloads);
    await page.getByText('420 subscriptions, newest first').first().waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Filter by' }).waitFor();
    await page.keyboard.insertText(iccids.slice(0, 30).join('; '));
    await page.keyboard.press('Enter');
    await page.getByText('30 of 30 ICCIDs found').waitFor();
    await page.getByRole('button', { name: 'Export' }).first().click();
    await page.getByText('Columns of the file: all').click();
    for (const column of ['ICCID', 'Ends', 'Product plan id'])
      await page.getByRole('checkbox', { name: column, exact: true }).check();
    await page.getByText('Columns of the file: ICCID, Ends, Product plan id').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).search).toBe('?fields=iccid,expirationDate,product.plan_id&list=iccid');
    const files = await threeFiles();
    expect(files[0]?.toString().split(/\r?\n/)[0]).toBe('iccid,expirationDate,product.plan_id');
    expect(files.map((file) => file.equals(files[0] as Buffer))).toEqual([true, true, true]);
  });

  test('days and months are those of the zone of the address, and each title says so', async () => {
    await open('/console/');
    await page.getByRole('heading', { name: 'Created per month, last 24 months (UTC)' }).waitFor();
    await page.goto(`${reports.service.url}/console/?zone=Pacific/Kiritimati`);
    await page.getByRole('heading', { name: 'Created per month, last 24 months (Pacific/Kiritimati)' }).waitFor();
    await page.getByRole('heading', { name: 'Ending per day, next 60 days (Pacific/Kiritimati)' }).waitFor();

    await page.goto(`${reports.service.url}/console/subscriptions?by=month&zone=Pacific/Kiritimati`);
    await page.getByText('420 subscriptions by month of creation, in Pacific/Kiritimati').first().waitFor();
    const response = await reports.service.get('/v1/subscription/summary?by=month&zone=Pacific/Kiritimati', token);
    const { by } = (await response.json()) as { by: { month: { value: string; count: number }[] } };
    const counted = page.getByRole('table', { name: 'Month' }).locator('tbody tr');
    await expect
      .poll(() => counted.locator('td:nth-of-type(1)').allInnerTexts())
      .toEqual(by.month.map(({ count }) => `${count}`));

    const { value = '', count = 0 } = by.month.at(-1) ?? {};
    await counted.last().getByRole('link').click();
    await page
      .getByText(new RegExp(`^${count} subscriptions?, newest first, created`))
      .first()
      .waitFor();
    expect(page.url()).toContain('zone=Pacific/Kiritimati');
    const days = await page.locator('td.column-created').allInnerTexts();
    const month = formatMinute(`${value}-01T00:00:00Z`).slice(2, 10);
    expect(new Set(days.map((day) => day.trim().replace(/^\d+ /, '')))).toEqual(new Set([month]));

    await page.goto(`${reports.service.url}/console/subscriptions?created-from=2024-01-01&zone=Pacific/Kiritimati`);
    await page.getByText('Days begin at midnight in Pacific/Kiritimati.').waitFor();
    const asked = new Date(Date.now() - 100 * 86_400_000).toISOString().slice(0, 10);
    const [from] = formatMinute(`${asked}T00:00:00Z`).split(',');
    const inZone = (path: string, query = '') =>
      page.goto(`${reports.service.url}/console/${path}?zone=Pacific/Kiritimati${query}`);
    await inZone('changes', `&since=${asked}`);
    await page
      .getByText(new RegExp(`since ${from}$`))
      .first()
      .waitFor();
    await inZone(`subscriptions/${encodeURIComponent(rows[0]?.id ?? '')}`);
    await page.getByText('Times are those of the service, in UTC; days are in Pacific/Kiritimati.').waitFor();
    await page.goto(`${reports.service.url}/console/?zone=Europe/Berlni`);
    await page.getByRole('heading', { name: 'This time cannot be shown' }).waitFor();
  });
});
