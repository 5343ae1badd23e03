import { readFileSync } from 'node:fs';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { createFilledTenant } from '../../../test/support/console-tenant.ts';
import { drawPairs } from '../../../test/support/draw.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';
import { watchFocus } from '../../../test/support/watch-focus.ts';
import { type SyntheticRow, syntheticRows } from '../../service/import/synthetic-rows.ts';

const longName = `Long ${'name '.repeat(39)}`.trim();
const names = [longName, 'خطة أوروبا ٥ جيجابايت، ٣٠ يومًا', '🌍 Global 🚀', '<script>alert(1)</script>'];

describe.skipIf(!hasChromium)('the subscriptions page in a browser', () => {
  let reports: ReportConsole;
  let service: ReportConsole['service'];
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    const rows = [...syntheticRows({ count: 300, seed: 7, until: Math.floor(Date.now() / 1000) })];
    reports = await startReportConsole(
      rows.map((row, index) => ({
        ...row,
        email: index < 3 ? 'ada@example.com' : index < 5 ? 'bob@example.com' : row.email,
        product: { ...row.product, name: names[index % 40] ?? row.product.name ?? '' },
      })),
    );
    service = reports.service;
  });
  afterAll(() => reports.close());
  afterEach(() => context.close());

  async function open(...given: Parameters<ReportConsole['open']>): Promise<void> {
    page = await reports.open(...given);
    context = page.context();
  }

  const rows = (): Locator =>
    page
      .getByRole('table', { name: 'Subscriptions' })
      .getByRole('row')
      .filter({ has: page.getByRole('link') });
  const hrefs = (): Promise<string[]> =>
    rows()
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  const sentence = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
  const search = (): string => new URL(page.url()).search;
  const requestsFromNow = (): string[] => {
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    return urls;
  };
  const openAll = async (): Promise<void> => {
    await open('/console/subscriptions');
    await sentence('300 subscriptions, newest first');
  };
  const filterBy = async (text: string): Promise<void> => {
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Filter by' }).fill(text);
    await page.keyboard.press('Enter');
  };

  test('a filter is added, edited and removed by keyboard, and is part of the link', async () => {
    await openAll();
    await filterBy('depl');
    await sentence(/^\d+ subscriptions, newest first, status Depleted$/);
    expect(search()).toBe('?status=DEPLETED');
    await expect.poll(() => rows().filter({ hasNotText: 'Depleted' }).count()).toBe(0);
    await expect.poll(() => rows().count()).toBeGreaterThan(1);

    await page.getByRole('button', { name: 'Status: Depleted', exact: true }).press('Enter');
    const active = page.getByRole('checkbox', { name: 'Active' });
    await active.focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await sentence(/status Depleted or Active$/);
    expect(search()).toBe('?status=DEPLETED,ACTIVE');

    await page.getByRole('button', { name: 'Status: Depleted, Active', exact: true }).press('Delete');
    await sentence('300 subscriptions, newest first');
    expect(search()).toBe('');
    await expect
      .poll(() =>
        page.getByRole('button', { name: 'Filter', exact: true }).evaluate((it) => it === document.activeElement),
      )
      .toBe(true);
  });

  test.each(['click', 'key'])('the field of the filters has the focus before the next key, after a %s', async (by) => {
    await open('/console/subscriptions');
    await rows().first().waitFor();
    await page.evaluate(watchFocus);
    if (by === 'click') await page.getByRole('button', { name: 'Filter', exact: true }).click();
    else await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('window.focusedRole')).toBe('combobox');
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    await page.evaluate(watchFocus);
    await page.keyboard.press('e');
    await expect.poll(() => page.evaluate('window.focusedRole')).toBe('menuitem');
  });

  test('a value that the service would reject is not sent, and its rule stands beside the field', async () => {
    await openAll();
    const requests = requestsFromNow();
    await page.keyboard.press('/');
    await page.getByRole('option', { name: 'ICCID' }).click();
    await page.getByRole('textbox', { name: 'ICCID' }).fill('8944 50');
    await page.keyboard.press('Enter');
    await page.getByText('Must be 15 to 22 digits, such as 8944500102198304826').waitFor();
    // the page asks for changes meanwhile
    expect(requests.filter((url) => url.includes('8944'))).toEqual([]);
  });

  test('products are found by name, with their counts', async () => {
    await open('/console/subscriptions?status=ACTIVE');
    await sentence(/status Active$/);
    await page.keyboard.press('/');
    await page.getByRole('option', { name: 'Product' }).click();
    await page.getByRole('combobox', { name: 'Product' }).fill('japan');
    const option = page.getByRole('option', { name: /Japan.*\d$/ }).first();
    const [, name, count] = /^(.*?)(\d+)$/.exec((await option.textContent()) ?? '') ?? [];
    await option.click();
    await sentence(new RegExp(`^${count} subscriptions?, newest first, status Active, product `));
    await expect.poll(() => page.getByRole('button', { name: `Product: ${name}`, exact: true }).count()).toBe(1);
  });

  test('headers sort, and Back and Forward restore rows and focus', async () => {
    await openAll();
    const before = await hrefs();
    const header = page.getByRole('columnheader', { name: 'Ends' });
    await header.getByRole('button').click();
    await sentence('300 subscriptions, earliest end first');
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending');
    expect(search()).toBe('?sort=expirationDate');
    await expect.poll(hrefs).not.toEqual(before); // the old rows are grey until then
    await rows().nth(4).getByRole('link').focus();
    const nextPage = page.waitForResponse((response) => response.url().includes('cursor='));
    await page.keyboard.press(']');
    await page.waitForURL('**/console/subscriptions?sort=expirationDate&page=2');
    await nextPage;

    const requests = requestsFromNow();
    await page.goBack();
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest('tr')?.rowIndex)).toBe(5);
    await page.goBack();
    await sentence('300 subscriptions, newest first');
    await expect.poll(hrefs).toEqual(before);
    await page.goForward();
    await sentence('300 subscriptions, earliest end first');
    expect(requests.filter((url) => url.includes('/v1/subscription?'))).toEqual([]);
  });

  test('neighbouring pages are requested by cursor, and any page can be jumped to', async () => {
    await open('/console/subscriptions?size=50');
    await sentence('300 subscriptions, newest first');
    const requests = requestsFromNow();
    const seen = await hrefs();
    for (let turn = 2; turn <= 6; turn += 1) {
      await page.getByRole('button', { name: 'Next page' }).first().click();
      await page.waitForURL(`**&page=${turn}`);
      await expect.poll(async () => (await hrefs()).some((name) => seen.includes(name))).toBe(false);
      seen.push(...(await hrefs()));
    }
    expect(new Set(seen.map((href) => href.split('?')[0])).size).toBe(300);
    expect(requests.filter((url) => url.includes('/subscription?') && !url.includes('cursor='))).toEqual([]);

    const field = page.getByRole('textbox', { name: 'Page' }).first();
    await field.fill('7');
    await field.press('Enter');
    await page.getByText('Enter a whole number from 1 to 6').waitFor();
    await field.fill('2');
    await field.press('Enter');
    await page.waitForURL('**/console/subscriptions?size=50&page=2');
    await expect.poll(hrefs).toContain(seen[50]?.replace('page=2', 'page=2'));
  });

  test('a page past the last one says how many there are', async () => {
    await open('/console/subscriptions?size=100&page=9');
    await page.getByRole('heading', { name: 'Page 9 does not exist' }).waitFor();
    await page.getByRole('button', { name: 'Go to the last page' }).click();
    await page.waitForURL('**/console/subscriptions?size=100&page=3');
    await expect.poll(() => rows().count()).toBe(100);
  });

  test('a link with an unknown or invalid parameter names it and shows no rows', async () => {
    await open('/console/exports');
    const requests = requestsFromNow();
    await page.goto(`${service.url}/console/subscriptions?stauts=ACTIVE&iccid=12&page=1&page=2`);
    const alert = page.getByRole('alert');
    await alert.getByText("did you mean 'status'?").waitFor();
    await expect.poll(() => alert.getByRole('listitem').count()).toBe(3);
    expect(await page.getByRole('table').count()).toBe(0);
    expect(requests.filter((url) => url.includes('connect-api'))).toEqual([]);
    // a value that only the service can judge
    await page.goto(`${service.url}/console/subscriptions?size=5000`);
    await page.getByText(/'size': it must be an integer from 1 to 1000/).waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
  });

  test('an address is in no URL, is asked for after a reload, and is kept for Back', async () => {
    await open('/console/subscriptions');
    const urls = requestsFromNow();
    page.on('framenavigated', (frame) => urls.push(frame.url()));
    await sentence('300 subscriptions, newest first');
    await filterBy('ada@example.com');
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');
    expect(search()).toBe('?email=hidden');
    await page.getByRole('columnheader', { name: 'Ends' }).getByRole('button').click();
    await sentence('3 subscriptions, earliest end first, subscriber ada@example.com');
    await page.goBack();
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');

    await page.reload();
    await page.getByRole('heading', { name: 'Whose subscriptions?' }).waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Email or subscriber' }).fill('ada@example.com');
    await page.keyboard.press('Enter');
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');
    expect(urls.filter((url) => url.includes('ada'))).toEqual([]);
    expect(service.logText()).not.toContain('ada@');
  });

  test('another address in the filter shows the records of the other one, and Back those of the first', async () => {
    await openAll();
    await filterBy('ada@example.com');
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');
    const first = await hrefs();
    await page
      .getByRole('button', { name: /ada@example\.com$/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: 'Email or subscriber' }).fill('bob@example.com');
    await page.keyboard.press('Enter');
    await sentence('2 subscriptions, newest first, subscriber bob@example.com');
    expect(search()).toBe('?email=hidden'); // both links are the same
    await expect.poll(hrefs).toHaveLength(2);
    expect(first).not.toEqual(expect.arrayContaining(await hrefs()));
    await page.goBack();
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');
    await expect.poll(hrefs).toEqual(first);
  });

  test('after an error the old rows are grey and dated, and trying again replaces them', async () => {
    await openAll();
    await context.setOffline(true);
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click();
    await page.getByText(/^as of \d\d:\d\d$/).waitFor();
    const alert = page.getByRole('alert');
    await alert.getByText('Cannot reach the service').waitFor();
    expect(await alert.getByText('Correlation id').count()).toBe(0); // no service has seen it
    await sentence('300 subscriptions, newest first'); // still what the rows are
    await context.setOffline(false);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await sentence('300 subscriptions, oldest first');
    await page.getByText(/^as of/).waitFor({ state: 'detached' });
  });

  test('a page whose request is limited says so at once, and loads when it is tried again', async () => {
    await openAll();
    await page.route('**/v1/subscription**', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '30', 'content-type': 'application/problem+json' },
        json: { type: 'TOO_MANY_REQUESTS', messages: ['Cannot accept the request'] },
      }),
    );
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click();
    const note = page.getByRole('alert').filter({ hasText: 'There were too many requests at once.' });
    for (const name of ['Overview', 'Findings', 'Subscriptions']) {
      await note.getByText('Details').click();
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    await note.waitFor();
    await page.unroute('**/v1/subscription**');
    await note.getByRole('button', { name: 'Try again' }).click();
    await sentence('300 subscriptions, newest first');
  });

  test('the response to an overtaken request is never shown', async () => {
    await openAll();
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    await page.route('**/v1/subscription?**status=EXPIRED**', async (route) => {
      arrived.resolve();
      await held.promise;
      await route.continue().catch(() => undefined); // it was aborted
    });
    await filterBy('expired');
    await arrived.promise;
    await page.getByRole('button', { name: 'Status: Expired', exact: true }).press('Delete');
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Filter by' }).fill('active');
    await page.getByRole('option', { name: 'Status: Active' }).click();
    await sentence(/status Active$/);
    held.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    await expect.poll(() => rows().filter({ hasNotText: 'Active' }).count()).toBe(0);
    await expect.poll(() => rows().count()).toBeGreaterThan(1);
  });

  test('the filtered records are counted by product, each count lists its records, and the CSV has all', async () => {
    await open('/console/subscriptions?status=ACTIVE,EXPIRED');
    await page.getByRole('button', { name: 'Count by' }).click();
    await page.getByRole('menuitemradio', { name: 'Product' }).click();
    await sentence(/^\d+ subscriptions by product, status Active or Expired$/);
    expect(search()).toBe('?status=ACTIVE,EXPIRED&by=product-id');
    const token = await service.accessToken(reports.client);
    const response = await service.get('/v1/subscription/summary?status=ACTIVE,EXPIRED&by=product-id', token);
    const { total, by } = await response.json();
    const counts: { value: string; count: number; name: string }[] = by['product-id'];
    const table = page.getByRole('table', { name: 'Product' });
    const shown = await table
      .getByRole('row')
      .evaluateAll((all) => all.slice(1).map((row) => row.children[1]?.textContent));
    expect(shown.map(Number)).toEqual(counts.map(({ count }) => count).sort((a, b) => b - a));
    expect(await accessibilityFaults(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8').split('\r\n');
    const [largest] = counts.toSorted((a, b) => b.count - a.count);
    expect(lines).toHaveLength(counts.length + 3);
    expect(lines.slice(0, 2)).toEqual(['dimension,value,count,name', `total,,${total},`]);
    expect(lines).toContain(`product-id,${largest?.value},${largest?.count},"${largest?.name}"`);
    await table.getByRole('link', { name: largest?.name ?? '', exact: true }).click();
    await sentence(new RegExp(`^${largest?.count} subscriptions?, newest first`));
    expect(search()).toBe(`?product-id=${largest?.value}&status=ACTIVE,EXPIRED`);
  });

  test('Ctrl and K finds pages, products and addresses, and the link of the page can be copied', async () => {
    await open('/console/subscriptions?status=ACTIVE,DEPLETED&page=2');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const find = page.getByRole('dialog', { name: 'Find' });
    await find.getByRole('option', { name: 'Overview' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await find.getByRole('combobox').fill('japan');
    await find
      .getByRole('option', { name: /^Product: Japan/ })
      .first()
      .waitFor();
    await find.getByRole('combobox').fill('ada@example.com');
    await page.keyboard.press('Enter');
    await sentence('3 subscriptions, newest first, subscriber ada@example.com');
    expect(search()).toBe('?email=hidden');
  });

  test('a tenant without records is told how to import, not to loosen filters', async () => {
    await open('/console/subscriptions', { client: await service.createClient(await service.createTenant('empty')) });
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
    await page.getByText('subreport import').waitFor();
  });

  test('filters that match nothing say which one to remove and what that gives', async () => {
    await open('/console/subscriptions?status=NOT_YET_KNOWN&auto-renew=true');
    await page.getByRole('heading', { name: 'No subscription matches these filters' }).waitFor();
    const without = page.getByRole('button', { name: /^Without Status: NOT_YET_KNOWN: \d+ subscriptions$/ });
    const [count] = /\d+ subscriptions$/.exec((await without.textContent()) ?? '') ?? [];
    await without.click();
    await sentence(`${count}, newest first, that renew`);
  });

  test('an address without subscriptions says whether addresses were loaded, and when the last change was', async () => {
    const find = async () => {
      await page.getByRole('button', { name: /^Find/ }).click();
      await page.getByRole('combobox', { name: /^ICCID, email/ }).fill('nobody@example.com');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'No subscription matches these filters' }).waitFor();
    };
    await open('/console/');
    await find();
    const loaded = page.getByText('300 of 300 subscriptions have an email address');
    await loaded.filter({ hasText: 'address, and none has this one.' }).waitFor();
    await filterBy('active');
    await loaded.filter({ hasText: 'address; those of this one do not match the other filters' }).waitFor();
    const [today = ''] = new Date().toISOString().split('T');
    const changed = page.getByText(/^The subscriptions last changed on \d+ \w+ \d{4}, \d\d:\d\d UTC\./);
    await expect.poll(() => changed.textContent()).toContain(today.slice(0, 4));
    await changed.getByRole('link', { name: 'Changes' }).click();
    await page.waitForURL('**/console/changes?since=30d');
    await context.close();
    const nameless = ({ email: _, ...row }: SyntheticRow) => row as SyntheticRow;
    await open('/console/', { client: await createFilledTenant(service, 'nameless', 3, nameless) });
    await find();
    await page.getByText('No subscription has an email address').waitFor();
  });

  test('rows are reached by keyboard; Enter opens the record beside them and Esc returns to the row', async () => {
    await open('/console/subscriptions?size=50');
    await sentence('300 subscriptions, newest first');
    for (const key of ['j', 'j', 'ArrowDown', 'k']) await page.keyboard.press(key);
    const row = rows().nth(1).getByRole('link');
    await expect.poll(() => row.evaluate((link) => link === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    const id = decodeURIComponent((await row.getAttribute('href'))?.split(/[/?]/)[3] ?? '');
    await page.getByRole('complementary').getByText(id).first().waitFor();
    expect(page.url()).toMatch(/\/console\/subscriptions\/[^/?]+\?size=50$/);
    await page.keyboard.press('Escape');
    await page.waitForURL('**/console/subscriptions?size=50');
    await expect.poll(() => row.evaluate((link) => link === document.activeElement)).toBe(true);
  });

  test('a letter is no shortcut while something is open, or after letters are turned off', async () => {
    await openAll();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.keyboard.press('e');
    await page.getByRole('group', { name: 'Columns' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('checkbox', { name: 'Letters and signs are shortcuts' }).uncheck();
    await page.reload();
    await rows().first().waitFor();
    for (const key of ['e', '/', '?', 'j', 'ArrowDown']) await page.keyboard.press(key);
    expect(await page.locator(':popover-open, dialog[open]').count()).toBe(0);
    await expect
      .poll(() =>
        rows()
          .first()
          .getByRole('link')
          .evaluate((link) => link === document.activeElement),
      )
      .toBe(true);
  });

  test('a column that was hidden stays hidden after a reload', async () => {
    await open('/console/subscriptions');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Device' }).uncheck();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Product' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Device' }).count()).toBe(0);
  });

  test('the end of an ICCID is never cut, however wide the window is', async () => {
    await open('/console/subscriptions?size=100&auto-renew=true');
    const buttons = page.getByRole('button', { name: /^8944/ });
    for (const width of [360, 390, 640, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByRole('link', { name: /ICCID/ }).first().waitFor();
      await expect.poll(() => buttons.count()).toBeGreaterThan(50);
      const cut = await buttons.evaluateAll((all) =>
        all
          .filter((button) => {
            const [digits] = /\d{15,}/.exec((button as HTMLElement).title) ?? [''];
            const node = document.createTreeWalker(button, NodeFilter.SHOW_TEXT).lastChild() as Text;
            const range = document.createRange();
            range.setStart(node, node.length - 3);
            range.setEnd(node, node.length);
            const { right } = range.getBoundingClientRect();
            const boxes = [button, button.parentElement].map((box) => box?.getBoundingClientRect().right ?? 0);
            return range.toString() !== digits.slice(-3) || right > Math.min(...boxes);
          })
          .map(({ textContent }) => textContent),
      );
      expect([width, cut]).toEqual([width, []]);
    }
  });

  const widths = drawPairs(['light', 'dark'], [390, 768, 1280]);
  test.each([
    ['light', []],
    ['dark', ['color-contrast']], // only colours differ
  ] as const)('the page has no accessibility problem in the %s theme', async (colorScheme, rules) => {
    await open('/console/subscriptions?size=50&status=ACTIVE');
    await page.emulateMedia({ colorScheme });
    for (const [, width] of widths.filter(([theme]) => theme === colorScheme)) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByRole('link', { name: /ICCID/ }).first().waitFor();
      expect([width, await accessibilityFaults(page, { rules })]).toEqual([width, []]);
    }
    await page.keyboard.press('/');
    await page.getByRole('listbox').waitFor();
    expect(['list of filters', await accessibilityFaults(page, { rules })]).toEqual(['list of filters', []]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Status: Active', exact: true }).click();
    await page.getByRole('checkbox').first().waitFor();
    expect(['editor', await accessibilityFaults(page, { rules })]).toEqual(['editor', []]);
  });

  test('on a phone and on paper each ICCID keeps its last digits, beside no other text', async () => {
    await open('/console/subscriptions?auto-renew=true&sort=expirationDate', { width: 360 });
    const cards = page.locator('.record-line[data-part="card"]');
    await cards.first().waitFor();
    /** Per row: the last digits that are drawn, and whether they end before the next text. */
    const drawn = () =>
      cards.evaluateAll((all) =>
        all.map((card) => {
          const [iccid, end] = [...card.children] as HTMLElement[];
          const digits = iccid?.lastElementChild?.textContent?.trim();
          const [left, right] = [iccid, end].map((part) => part?.getBoundingClientRect() ?? new DOMRect());
          const isCut = iccid === undefined || iccid.scrollWidth > Math.ceil(iccid.clientWidth);
          const isApart =
            left !== undefined && right !== undefined && (left.right <= right.left || left.bottom <= right.top);
          return [digits?.length, isCut, isApart] as const;
        }),
      );
    const rows = await drawn();
    expect(rows.length).toBe(20);
    for (const [digits, isCut, isApart] of rows) expect([digits, isCut, isApart]).toEqual([4, false, true]);
    await page.emulateMedia({ media: 'print' });
    for (const [, isCut, isApart] of await drawn()) expect([isCut, isApart]).toEqual([false, true]);
    const iccid = cards.first().locator('.iccid');
    const full = (await iccid.getAttribute('title'))?.replace('Copy ICCID ', '') ?? '';
    const printed = await iccid.evaluate((button) => getComputedStyle(button, '::after').content);
    expect(printed.replaceAll(/\D/g, '')).toBe(full);
    const day = cards.first().locator('[data-day]');
    await expect
      .poll(() => day.evaluate((each) => getComputedStyle(each, '::after').content))
      .toMatch(/^"\d+ \w+ \d{4}"$/);
  });
});
