import { setTimeout } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';
import { type SyntheticRow, syntheticRows } from '../../service/import/synthetic-rows.ts';

const charts = ['Created per month, last 24 months', 'Ending per day, next 60 days'] as const;
const tables = ['All by product', 'All by status'] as const;
const visitGapMs = 31 * 60_000;

describe.skipIf(!hasChromium)('the overview and the changes in a browser', () => {
  let reports: ReportConsole;
  let token: string;
  let page: Page;
  const rows = [...syntheticRows({ count: 600, seed: 7, until: Math.floor(Date.now() / 1000) })];

  beforeAll(async () => {
    reports = await startReportConsole(rows);
    token = await reports.service.accessToken(reports.client);
  });
  afterAll(() => reports.close());

  const chart = (name: string): Locator => page.getByRole('group', { name });
  const counts = (name: string): Locator => page.getByRole('table', { name });
  const drawn = async (): Promise<void> => {
    for (const name of charts) await chart(name).waitFor();
    for (const name of tables) await counts(name).waitFor();
  };
  const tableSwitch = (name: string): Locator => page.getByRole('button', { name: `Table of: ${name}` });
  const overflow = (): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

  /** Whole numbers in the texts of bars: the first one after the name. */
  const countIn = (text: string): number =>
    /: none/.test(text) ? 0 : Number(/: ([\d,]+)/.exec(text)?.[1]?.replaceAll(',', ''));

  /** Waits until the table beside a column has the name and the total of its text. */
  async function shownNumbers(text: string): Promise<void> {
    const tip = page.locator('.chart-tip').filter({ hasText: text.split(': ')[0] ?? '' });
    await tip.waitFor();
    await expect.poll(() => tip.locator('tr').last().textContent()).toBe(`Total${countIn(text)}`);
  }

  describe('numbers of the overview', () => {
    beforeAll(async () => {
      page = await reports.open('/console/');
    });
    afterAll(() => page.context().close());

    test('the whole card of what ends without renewal leads to it', async () => {
      const number = page.getByRole('link', { name: /^End within 7 days without renewal/ });
      const box = await page.getByRole('listitem').filter({ has: number }).boundingBox();
      if (box === null) expect.unreachable();
      await page.mouse.click(box.x + box.width - 4, box.y + box.height - 4);
      await page.waitForURL('**/console/subscriptions?expires-within=7d&auto-renew=false');
      await page.goBack();
    });

    test('the next ends without renewal are those of the API, soonest first', async () => {
      const query = '?expires-within=60d&auto-renew=false&sort=expirationDate';
      const card = page.getByRole('region', { name: 'Will not renew' });
      const response = await reports.service.get(`/v1/subscription${query}&size=10`, token);
      const records: { id: string }[] = await response.json();
      const links = card.getByRole('listitem').getByRole('link');
      await expect
        .poll(() => links.evaluateAll((each) => each.map((link) => link.getAttribute('href'))))
        .toEqual(records.map(({ id }) => `/console/subscriptions/${encodeURIComponent(id)}${query}`));
    });

    test('the table of a chart has the same numbers', async () => {
      const bars = chart(charts[0]).getByRole('link');
      await bars.first().waitFor();
      const counts = (await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label') ?? ''))).map(
        countIn,
      );
      await tableSwitch(charts[0]).click();
      const table = page.getByRole('table', { name: charts[0] });
      const totals = await table
        .getByRole('row')
        .evaluateAll((all) => all.slice(1).map((row) => row.children[1]?.textContent));
      expect(totals.map(Number)).toEqual(counts);
      const days = await chart(charts[1]).getByRole('link').count();
      expect([counts.length, days]).toEqual([24, 61]); // empty ones too
      await tableSwitch(charts[0]).click();
      await bars.first().waitFor();
    });
  });

  describe('use of the overview', () => {
    afterEach(() => page.context().close());

    test('a chart is one tab stop, the arrow keys move in it, and Enter opens a bar', async () => {
      page = await reports.open('/console/');
      const bars = chart(charts[0]).getByRole('link');
      await bars.first().waitFor();
      const texts = await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute('aria-label') ?? ''));
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
      await tableSwitch(charts[0]).focus();
      while (!texts.includes((await focused()) ?? '')) await page.keyboard.press('Tab');
      await expect.poll(focused).toBe(texts[0]);
      await shownNumbers(texts[0] ?? '');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await expect.poll(focused).toBe(texts[2]);
      await shownNumbers(texts[2] ?? '');
      await page.keyboard.press('End');
      await expect.poll(focused).toBe(texts.at(-1));
      await page.keyboard.press('Tab');
      expect(texts).not.toContain(await focused());
      await page.keyboard.press('Shift+Tab');
      await expect.poll(focused).toBe(texts.at(-1));
      await page.keyboard.press('Escape');
      await page.locator('.chart-tip').waitFor({ state: 'detached' });
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/console\/subscriptions\?created-from=/);
    });

    test('a tap shows the numbers of a column, and the next tap opens it', async () => {
      page = await reports.open('/console/', { hasTouch: true });
      const bar = chart(charts[0]).getByRole('link').nth(20);
      await bar.tap();
      await shownNumbers((await bar.getAttribute('aria-label')) ?? '');
      expect(new URL(page.url()).pathname).toBe('/console/');
      await bar.tap();
      await page.waitForURL(/\?created-from=/);
      await page.goBack();
      await counts('All by status').getByRole('link', { name: 'Active' }).tap();
      await page.waitForURL(/\?status=ACTIVE$/);
    });

    test('no time of the past is offered before the history begins', async () => {
      page = await reports.open('/console/');
      await page.getByRole('button', { name: 'Time of the report: Now' }).click();
      await page.getByLabel('At the start of').waitFor();
      expect(await page.getByRole('button', { name: /^(?:Start|End) of / }).count()).toBe(0);
    });

    test('a part that fails says so beside it, the others stand, and it can be tried again', async () => {
      let fails = true;
      page = await reports.open('/console/', {
        prepare: (opened) =>
          opened.route(/summary\?(?=.*by=day).*date-field=expiration/, (route) =>
            fails ? route.continue({ url: `${reports.service.url}/console/connect-api/v1/unknown` }) : route.continue(),
          ),
      });
      const card = page.getByRole('region', { name: charts[1] });
      await card.getByRole('alert').waitFor();
      await chart(charts[0]).waitFor();
      await counts('All by product').waitFor();
      fails = false;
      await card.getByRole('button', { name: 'Try again' }).click();
      await chart(charts[1]).waitFor();
    });

    test('several parts that fail say so once, and are all tried again', async () => {
      let fails = true;
      page = await reports.open('/console/', {
        prepare: (opened) =>
          opened.route('**/connect-api/**', (route) =>
            fails ? route.continue({ url: `${reports.service.url}/console/connect-api/v1/unknown` }) : route.continue(),
          ),
      });
      await page.getByRole('alert').waitFor();
      await expect.poll(() => page.getByText('Not loaded').count()).toBe(5);
      await expect.poll(() => page.getByRole('alert').count()).toBe(1);
      fails = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await drawn();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    });

    test('a service that does not respond leaves the last figures, grey and dated, until it is back', async () => {
      page = await reports.open('/console/');
      await drawn();
      const shown = () => page.getByRole('main').getByRole('listitem').allInnerTexts();
      await expect.poll(shown).toHaveLength(4 + 7 + 4 + 10);
      const before = await shown();
      await page.route(/healthz|connect-api/, (route) => route.abort('connectionrefused'));
      // the page asks whether the service responds
      await page.evaluate(() => window.dispatchEvent(new Event('online')));
      await page.getByText('The service does not respond').waitFor();
      await page.getByText(/^as of \d\d:\d\d$/).waitFor();
      await drawn();
      await expect.poll(shown).toEqual(before);
      expect(await accessibilityFaults(page)).toEqual([]);
      const outdated = page.locator('[data-outdated]');
      await expect.poll(() => outdated.count()).toBe(4 + 5);
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(await page.getByText('Correlation id').count()).toBe(0);
      await page.unrouteAll();
      await expect.poll(() => outdated.count()).toBe(0);
      await page.getByText(/^as of/).waitFor({ state: 'detached' });
    });

    test('parts that never loaded are loaded once the service responds', async () => {
      page = await reports.open('/console/', {
        prepare: (opened) => opened.route(/healthz|connect-api/, (route) => route.abort('connectionrefused')),
      });
      await page.getByText('The service does not respond').waitFor();
      await expect.poll(() => page.getByText('Not loaded').count()).toBe(5);
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.unrouteAll();
      await drawn();
    });

    test('charts and tables have no accessibility problem in either theme, and fit into 360 pixels', async () => {
      page = await reports.open('/console/', { width: 360 });
      await drawn();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      // only colours differ
      expect(await accessibilityFaults(page, { rules: ['color-contrast'] })).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await overflow()).toBe(0);
      for (const name of charts) await tableSwitch(name).click();
      // the bar at its bottom covers nothing
      await page.setViewportSize({ width: 360, height: 4000 });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await overflow()).toBe(0);
    });

    describe('what changed since the last visit', () => {
      /** Lets the visits that the browser remembers have ended before now. */
      const endVisit = (): Promise<void> =>
        page.evaluate((gap) => {
          for (const key of Object.keys(localStorage).filter((name) => name.includes('visits'))) {
            const visits = JSON.parse(localStorage.getItem(key) ?? '');
            visits.current.at -= gap;
            localStorage.setItem(key, JSON.stringify(visits));
          }
        }, visitGapMs);
      const changed = (row: SyntheticRow): SyntheticRow => ({
        ...row,
        product: { ...row.product, name: '<b>Renamed</b>' },
      });

      test('has the last day at the first visit, then the changed records until they are marked as seen', async () => {
        const present: string[] = [];
        page = await reports.open('/console/changes', {
          prepare: async (opened) =>
            opened.on('request', (request) => request.url().includes('since=now') && present.push(request.url())),
        });
        await page
          .getByRole('heading', { name: /^Nothing has changed since \d.*; this is your first visit in this browser$/ })
          .waitFor();
        await page.waitForLoadState('networkidle');
        expect(present).toHaveLength(1); // for the list and for the watch of new data
        await endVisit();
        await setTimeout(1_000); // the history tells apart only what is a second apart
        await reports.load(rows.slice(0, 2).map(changed));
        await page.reload();
        await page.getByRole('heading', { name: /^0 added, 2 changed, 0 removed since your last visit, \d/ }).waitFor();
        const links = page.getByRole('link', { name: /^<b>Renamed<\/b>/ });
        await expect
          .poll(() => links.evaluateAll((all) => all.map((link) => link.getAttribute('href')).toSorted()))
          .toEqual(
            rows
              .slice(0, 2)
              .map(({ id }) => `/console/subscriptions/${encodeURIComponent(id)}`)
              .toSorted(),
          );
        await page.getByRole('heading', { name: /^Import of \d.* UTC$/ }).waitFor();
        await page.getByText('Product:').first().waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.getByRole('link', { name: 'Last 24 hours' }).click();
        await page.getByRole('heading', { name: /added, .* removed since \d/ }).waitFor();
        await page.getByText('The first report that the service keeps is of that time').waitFor();
        await expect
          .poll(() => page.getByRole('listitem').filter({ hasText: '<b>Renamed</b>' }).first().innerText())
          .toMatch(/Added|Changed/);
        await page.goto(`${page.url()}&kind=removed`);
        await page.getByText(/^No such change since/).waitFor();
        await page.getByRole('link', { name: 'Show all changes' }).click();
        await page.getByRole('button', { name: 'Since a day' }).click();
        const today = new Date().toISOString().slice(0, 10);
        await page.getByLabel('First day').fill('2999-01-01');
        await page.getByRole('button', { name: 'Apply' }).click();
        await page.getByText('Enter a day that has begun').waitFor();
        await page.getByLabel('First day').fill(today);
        await page.getByRole('button', { name: 'Apply' }).click();
        await page.getByRole('link', { name: '2 changed', exact: true }).first().click();
        await page.getByText('Only: Changed').waitFor();
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ since: today, kind: 'changed' });
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.getByRole('link', { name: 'Last visit' }).click();
        await page.getByRole('button', { name: 'Mark as seen' }).click();
        await page.getByRole('heading', { name: /^Nothing has changed since your last visit, \d/ }).waitFor();
        await page.reload();
        await page.getByRole('heading', { name: /^Nothing has changed/ }).waitFor();
      });

      test('is unknown if the service no longer has the changes, and says so', async () => {
        page = await reports.open('/console/changes');
        await page.getByRole('heading', { name: /first visit/ }).waitFor();
        await endVisit();
        await page.route('**/changes?*', async (route) => {
          const url = route.request().url();
          // a token of another database
          const foreign = Buffer.from(JSON.stringify([1, 1, '', 'other'])).toString('base64url');
          await route.continue(
            url.includes('since=now') ? {} : { url: url.replace(/since=[^&]*/, `since=${foreign}`) },
          );
        });
        await page.reload();
        await page.getByRole('heading', { name: /^The service no longer knows what changed since \d/ }).waitFor();
      });
    });
  });
});
