import { setTimeout } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';

const longStatus = 'WAITING_FOR_THE_OPERATOR_TO_CONFIRM_THE_ORDER_OF_THIS_CUSTOMER'.slice(0, 64);
const longName = 'A product whose name tells everything '.repeat(5).trim();
const unbroken = { id: 'unbroken', name: 'Z'.repeat(200) };
const namedAs = (index: number) =>
  index === 3 ? unbroken : index % 4 === 1 ? { id: 'nameless', name: '' } : { id: 'named', name: longName };
const rows = rowsOf(60).map((row, index) =>
  index % 2 === 0 ? { ...row, status: longStatus } : { ...row, product: { ...row.product, ...namedAs(index) } },
);

describe.skipIf(!hasChromium)('addresses and windows at the edge', () => {
  let reports: ReportConsole;
  let page: Page;
  beforeAll(async () => {
    reports = await startReportConsole(rows.slice(0, 1));
    await setTimeout(1_000); // changes are compared with what the first import had left
    await reports.load(rows);
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

  test('the list says that a proxy removes the numbers of a page, and shows none', async () => {
    page = await reports.open('/console');
    await page.route(/connect-api\/v1\/subscription\?/, async (route) => {
      const response = await route.fetch();
      const {
        'x-total-count': _total,
        'x-total-pages': _pages,
        'x-current-page': _page,
        ...headers
      } = response.headers();
      await route.fulfill({ response, headers });
    });
    await page.goto(new URL('/console/subscriptions', page.url()).href);
    await page.getByText(/which proxy removes X-Total-Count/).waitFor();
    expect(await page.getByText(/0 subscriptions|NaN/).count()).toBe(0);
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

  test('a row is visible in the lowest windows, and no label of the bar touches another', async () => {
    page = await reports.open('/console/subscriptions', { width: 320 });
    // 1280 × 1024 and 1280 × 900 at 400 %
    for (const height of [640, 256, 225]) {
      await page.setViewportSize({ width: 320, height });
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
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    }
  });

  /** The names in tables of counts that run into their number. */
  const overlapping = (): Promise<readonly string[]> =>
    page.locator('.counts tbody th').evaluateAll((names) =>
      names
        .filter((name) => {
          const text = document.createRange();
          text.selectNodeContents(name);
          const { right, bottom } = text.getBoundingClientRect();
          const { left = 0, top = 0 } = name.nextElementSibling?.getBoundingClientRect() ?? {};
          return right > left && bottom > top;
        })
        .map(({ textContent }) => textContent),
    );

  test('every page is as wide as its window, and no name runs into its count, whatever its values are', async () => {
    page = await reports.open('/console/', { width: 320 });
    for (const path of [
      '',
      'changes?since=7d',
      'findings',
      `subscriptions/${encodeURIComponent(rows[0]?.id ?? '')}`,
      'subscriptions?by=status',
      'subscriptions?by=product-id',
    ]) {
      await page.goto(new URL(`/console/${path}`, page.url()).href);
      await page.locator('main :is(h2, h3, table)').first().waitFor();
      await page.waitForLoadState('networkidle');
      for (const width of [320, 390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await expect
          .poll(async () => [
            path,
            await page.evaluate(() => document.documentElement.scrollWidth),
            await overlapping(),
          ])
          .toEqual([path, width, []]);
      }
    }
  });

  const isCut = (element: Element): boolean => element.scrollWidth > element.clientWidth + 1;

  test.each([320, 1280])('what opens over the page at %d pixels is within its edges', async (width) => {
    page = await reports.open('/console/subscriptions', { width });
    await page.locator('[data-row]').first().waitFor();
    const opened = page.locator('.popover:popover-open');
    const box = async (part: Locator) => (await part.boundingBox()) ?? expect.unreachable();
    const buttons: readonly [string | RegExp, string?][] = [
      ['Filter', 'Status'],
      ['Filter', 'Created'],
      ['Share'],
      ['Export'],
      [/^Time of/],
    ];
    for (const [name, typed = ''] of buttons) {
      const button = page.getByRole('button', { name, exact: true }).first();
      await button.click();
      await opened.waitFor();
      if (typed !== '') await page.getByRole('option', { name: typed, exact: true }).click();
      if (typed === 'Status') await opened.getByText(longStatus).waitFor();
      expect([name, typed, await opened.evaluate(isCut)]).toEqual([name, typed, false]);
      const [outer, inner] = [await box(opened), await box(button)];
      const [left, right] = [outer.x - inner.x, inner.x + inner.width - outer.x - outer.width];
      if (outer.x > 8) expect(Math.min(Math.abs(left), Math.abs(right))).toBeLessThan(1);
      // a form is as wide as the list above it
      const widths = await opened
        .locator('.presets, .filter-editor')
        .evaluateAll((all) => all.map((each) => each.clientWidth));
      expect(Math.max(0, ...widths) - Math.min(...widths, Math.max(0, ...widths))).toBeLessThan(1);
      await page.keyboard.press('Escape');
      if (typed !== '') await page.keyboard.press('Escape');
    }
  });

  test('on paper, a long card is split, no button is drawn, and a table is as wide as the page', async () => {
    page = await reports.open('/console/changes?since=7d', { width: 700 });
    await page.locator('.change').nth(50).waitFor();
    await page.emulateMedia({ media: 'print' });
    const card = page.locator('main .card').first();
    await expect.poll(async () => (await card.boundingBox())?.height).toBeGreaterThan(1_000);
    await expect.poll(() => card.evaluate((element) => getComputedStyle(element).breakInside)).toBe('auto');
    for (const path of ['subscriptions?by=status', 'subscriptions?size=100']) {
      await page.goto(new URL(`/console/${path}`, page.url()).href);
      await page.locator('main tbody').first().waitFor({ state: 'attached' });
      expect(
        await page.locator('main .button:visible, main .icon-button:visible, header .button:visible').count(),
      ).toBe(0);
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(700);
    }
  });

  test('with the spacing of text that WCAG 1.4.12 names, no date of the table is cut', async () => {
    page = await reports.open('/console/subscriptions');
    await page.evaluate(() =>
      Object.assign(document.body.style, { letterSpacing: '0.12em', wordSpacing: '0.16em', lineHeight: '1.5' }),
    );
    for (const width of [1024, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      const dates = page.locator('td .date-time');
      await dates.first().waitFor();
      const cutDates = dates.evaluateAll((all) => {
        const range = document.createRange();
        return all
          .filter((date) => {
            range.selectNodeContents(date);
            return range.getBoundingClientRect().right > (date.parentElement?.getBoundingClientRect().right ?? 0);
          })
          .map(({ textContent }) => textContent);
      });
      expect([width, await cutDates]).toEqual([width, []]);
    }
  });

  test('a browser that denies local storage shows every page, and keeps the theme while it is open', async () => {
    page = await reports.open('/console/', {
      prepare: (opened) =>
        opened.addInitScript(() =>
          Object.defineProperty(window, 'localStorage', {
            get: () => {
              throw new DOMException('Access is denied for this document', 'SecurityError');
            },
          }),
        ),
    });
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    for (const name of ['Subscriptions', 'Changes', 'Findings', 'Exports', 'Overview']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect([name, await page.getByText('denied').count()]).toEqual([name, 0]);
    }
    await page.getByRole('button', { name: 'Theme: Dark' }).waitFor();
    await page.goto(new URL('/docs', page.url()).href);
    await page.getByRole('searchbox').fill('introspect');
    await page.getByText(/^\d operations?$/).waitFor();
  });

  test('a product without a name is called by its id', async () => {
    page = await reports.open('/console/subscriptions?product-id=nameless');
    await page.getByRole('button', { name: 'Product: nameless', exact: true }).click();
    await page.getByRole('option', { name: /^nameless/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('15 subscriptions, newest first, product nameless').first().waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('table', { name: 'All by product' }).getByText('nameless').waitFor();
  });

  test('a tenant without subscriptions has neither findings nor a proof that there are none', async () => {
    const { service } = reports;
    const client = await service.createClient(await service.createTenant('empty'));
    page = await reports.open('/console/findings', { client });
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
    expect(await page.getByText('Nothing is contradictory').count()).toBe(0);
    await page.goto(new URL('/console/subscriptions?by=status', page.url()).href);
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
  });

  test('what was copied is said to everybody, also that it could not be', async () => {
    page = await reports.open('/console/subscriptions');
    await page.context().grantPermissions([]);
    await page.locator('button.iccid').first().click();
    const message = page.locator('.shown-message');
    await message.waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await message.isVisible()).toBe(false); // a poll would wait until it is gone
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
    });
    await page.locator('[data-record]').first().click();
    await page.getByRole('button', { name: 'Copy ICCID' }).click();
    await message.filter({ hasText: 'Cannot copy' }).waitFor();
    await message.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Copy link', exact: true }).click();
    await message.filter({ hasText: 'Cannot copy' }).waitFor();
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.resolve();
    });
    await page.getByRole('button', { name: 'Copy as curl', exact: true }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy link', exact: true }).click();
    await page.getByRole('button', { name: 'Copy as curl', exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Copied', exact: true }).count()).toBe(1);
  });

  test('days are counted by the date that a period limits, and asked for if it limits another one', async () => {
    const period = 'created-from=2026-01-01T00:00:00Z&created-to=2026-02-01T00:00:00Z';
    page = await reports.open(`/console/subscriptions?by=day&date-field=expiration&${period}`);
    await page.getByText(/^Days are counted within at most 366 days/).waitFor();
    await page.goto(new URL(`/console/subscriptions?by=day&${period}`, page.url()).href);
    await page.getByRole('table', { name: 'Day' }).waitFor();
  });

  test('what is typed after Ctrl K is in the field, also while the dialog is loading', async () => {
    page = await reports.open('/console/subscriptions');
    await page.locator('[data-row]').first().waitFor();
    const asked = Promise.withResolvers<void>();
    const mayLoad = Promise.withResolvers<void>();
    await page.route('**/*.js', async (route) => {
      asked.resolve();
      await mayLoad.promise;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await asked.promise;
    await page.keyboard.type('jk89');
    mayLoad.resolve();
    const field = page.getByRole('dialog').getByRole('combobox');
    await expect.poll(() => field.inputValue()).toBe('jk89');
    await page.keyboard.type('4');
    await expect.poll(() => field.inputValue()).toBe('jk894');
  });

  test('a dialog of Find that cannot be loaded is named, and the keys are those of the page again', async () => {
    page = await reports.open('/console/subscriptions');
    await page.locator('[data-row]').first().waitFor();
    await page.route('**/*.js', (route) => route.abort());
    await page.keyboard.press('Control+k');
    await page.locator('.shown-message', { hasText: 'Find could not be loaded' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  test('what is chosen has colours of its own if those of the page are replaced', async () => {
    page = await reports.open('/console/changes?since=7d');
    await page.emulateMedia({ forcedColors: 'active' });
    const backgrounds = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((all) => [...new Set(all.map((each) => getComputedStyle(each).backgroundColor))]);
    await page.getByRole('button', { name: /^Time of/ }).click();
    for (const [group, state] of [
      ['.rail a', '[aria-current]'],
      ['.change-periods a', '[aria-current]'],
      ['.past-times button', '[aria-pressed=true]'],
    ]) {
      const [chosen] = await backgrounds(`${group}${state}`);
      expect(chosen).toBeDefined();
      expect(await backgrounds(`${group}:not(${state})`)).not.toContain(chosen);
    }
    const popover = page.locator('.popover:popover-open');
    await expect.poll(() => popover.evaluate((each) => getComputedStyle(each).borderTopWidth)).toBe('1px');
    await page.goto(new URL('/console/subscriptions?by=status', page.url()).href);
    await page.locator('.counts-bar span').first().waitFor();
    expect(await backgrounds('.counts-bar span')).not.toEqual(expect.arrayContaining(await backgrounds('.card')));
  });
});
