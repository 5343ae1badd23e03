import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { drawPairs, drawPart } from '../../../test/support/draw.ts';
import { startBothConsoles } from '../../../test/support/operator-console.ts';
import { removeRecords } from '../../../test/support/remove-records.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';
import { formatInstant, parseInstant } from '../../contract/instant.ts';
import { type SyntheticRow, syntheticRows } from '../../service/import/synthetic-rows.ts';
import type { TenantId } from '../../service/storage/store.ts';
import { countRequests, goTo, isSettled } from './crawl.ts';

// A number that can be clicked opens a list of exactly as many. `DOORS_ROWS` has other numbers of
// records: 300,000 take some minutes.

const count = Number(process.env.DOORS_ROWS ?? 2_000);
const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const begin = now - 20 * day;
const zones = ['UTC', 'America/St_Johns', 'Pacific/Kiritimati'];
const tenant = 'acme' as TenantId;

/**
 * No date passes a bound that moves with the time while the test runs. One in nine ends at midnight
 * of a zone, or a second before, and some in the hours between 60 days from now and that day's end.
 */
function rowsOf(until: number, from = 0): SyntheticRow[] {
  return [...syntheticRows({ count: from + count, seed: 11, until })].slice(from).map((row, index) => {
    const end = parseInstant(row.expirationDate)?.seconds ?? 0;
    const passed = (((end - now) % 3600) + 3600) % 3600;
    const moved = index % 40 === 0 ? now + 60 * day + (index % 3 === 0 ? 2 : -2) * 1_800 : end + 3_599 - passed;
    const offset = [0, 5.5, -10][index % 3] ?? 0;
    const midnight = (Math.floor(end / day) + 1) * day + offset * 3600 - (index % 2);
    const isAtMidnight = index % 9 === 0 && Math.abs((midnight - now) % 3600) > 600;
    return { ...row, expirationDate: formatInstant(isAtMidnight ? midnight : moved) };
  });
}

/** A link with a number, and what it says beside it. */
interface Door {
  readonly href: string;
  readonly name: string;
  readonly figure: number;
  /** The part of the page that it is in. */
  readonly kind: string;
}

/** The links of the page that have a number, and other links with a digit. Runs in the page. */
function listDoors(): { readonly doors: Door[]; readonly strange: string[] } {
  const doors: Door[] = [];
  const strange: string[] = [];
  for (const link of document.querySelectorAll('main a[href], [role=complementary] a[href]')) {
    const href = link.getAttribute('href') ?? '';
    const name = (link.getAttribute('aria-label') ?? link.textContent).trim();
    // records, periods of the changes, and what examples have in common
    if (/subscriptions\/./.test(href) || link.closest('.change-periods, .finding-shared') !== null) continue;
    const kinds = ['svg', '.figure-link', '.chart-legend li', 'tr:has(td)'];
    const kind = kinds.find((each) => link.closest(each) !== null) ?? '';
    const beside = kind === '' ? null : link.closest(kind)?.querySelector('.figure-number, .soft, td');
    const text = kind === 'svg' ? name.replace(/.*: (none)?/, '0') : (beside?.textContent ?? name);
    const [, figure] = /^(?:All |of )?([\d,]+)(?: |$)/.exec(text) ?? [];
    if (figure !== undefined) doors.push({ href, name, figure: Number(figure.replaceAll(',', '')), kind });
    else if (/\d/.test(name)) strange.push(name);
  }
  return { doors, strange };
}

/** How many things the page lists, as it says. Runs in the page. */
function listed(): number {
  const numbersIn = (selector: string): string[] | null | undefined =>
    document.querySelector(selector)?.textContent.replaceAll(',', '').match(/\d+/g);
  const changes = numbersIn('.changes-listed'); // "The list has it."
  if (changes !== undefined) return Number(changes?.at(-1) ?? 1);
  const isCounted = new URLSearchParams(location.search).has('by');
  return Number(numbersIn(isCounted ? 'main h2' : '.report-sentence')?.[0]);
}

describe.skipIf(!hasChromium)(`numbers of ${count} records`, () => {
  let reports: ReportConsole;
  let token: string;
  let page: Page;

  beforeAll(async () => {
    reports = await startReportConsole([]);
    const rows = rowsOf(begin);
    await reports.load(rows);
    await reports.ageLoads(begin);
    const some = (part: number, change: (row: SyntheticRow, index: number) => object) =>
      rows.slice(0, count / part).map((row, index) => ({ ...row, ...change(row, index) }));
    await reports.load(some(8, (_row, index) => ({ status: `STATE_${index % 11}` })));
    const [first] = rows;
    await reports.load(some(20, (row) => ({ product: first?.product, auto_renew: String(row.auto_renew !== 'true') })));
    await reports.load(
      rowsOf(now, Math.floor(count * 0.99))
        .slice(0, count / 50)
        .map((row, index) => ({ ...row, id: `new-${index}` })),
    );
    // its whole tenant at once is too much for the store's thread
    if (count <= 20_000)
      await removeRecords(
        reports.service.store,
        tenant,
        rows.slice(-7).map(({ id }) => id),
      );
    token = await reports.service.accessToken(reports.client);
  });
  afterAll(() => reports.close());

  const settled = () => page.waitForFunction(isSettled);

  /** The number of things that an address of the console lists, as the API counts it. */
  async function countedBy(href: string): Promise<number> {
    const { pathname, searchParams: query } = new URL(href, reports.service.url);
    const by = query.get('by');
    if (pathname === '/console/changes') return changesOf(query);
    for (const name of ['zone', 'sort']) query.delete(name);
    const response = await reports.service.get(`/v1/subscription/summary?${query}`, token);
    const { total, by: counts } = (await response.json()) as { total: number; by: Record<string, unknown[]> };
    expect(response.status, href).toBe(200);
    return by === null ? total : (counts[by]?.length ?? 0);
  }

  async function changesOf(query: URLSearchParams): Promise<number> {
    const days = Number(/^(\d+)d$/.exec(query.get('since') ?? '')?.[1] ?? 1); // at a first visit
    query.set('since', formatInstant(Math.max(begin + 1, now - days * day)));
    query.delete('zone');
    for (let total = 0; ; ) {
      const response = await reports.service.get(`/v1/subscription/changes?${query}&before=true&size=1000`, token);
      const page = (await response.json()) as { changes: object[]; next: string; has_more: boolean };
      expect([response.status, page]).toMatchObject([200, {}]);
      total += page.changes.length;
      if (!page.has_more) return total;
      query.set('since', page.next);
    }
  }

  const present = [
    '/console/',
    ...['status', 'product-id', 'plan-id', 'auto-renew', 'month'].map((by) => `/console/subscriptions?by=${by}`),
    '/console/subscriptions?expires-within=60d&by=day',
    '/console/subscriptions?expires-within=30d&by=product-id',
    '/console/subscriptions/$id',
  ];
  const pages = {
    now: ['/console/changes?since=7d', '/console/changes?since=30d', '/console/findings', ...present],
    past: present.filter((path) => !path.includes('within')),
  };

  test.each(drawPairs(['now', 'past'] as const, zones))('open lists of as many, %s in %s', async (time, zone) => {
    const kept = [
      ...(zone === 'UTC' ? [] : [`zone=${zone}`]),
      ...(time === 'now' ? [] : [`as-of=${formatInstant(now - 10 * day - 4_321)}`]),
    ].join('&');
    const [first] = rowsOf(begin);
    page = await reports.open('/healthz');
    await page.addInitScript(countRequests);
    await page.clock.setFixedTime(Date.now()); // so that links stay the same
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (const path of pages[time]) {
      const own = path.replace('$id', encodeURIComponent(first?.id ?? ''));
      const url = `${reports.service.url}${own}${kept === '' ? '' : `${own.includes('?') ? '&' : '?'}${kept}`}`;
      await page.goto(url);
      await settled();
      const { doors, strange } = await page.evaluate(listDoors);
      expect([path, strange, doors.length > 0]).toEqual([path, [], true]);
      if (path === '/console/') {
        const figureOf = (name: RegExp) => doors.find((door) => name.test(door.name))?.figure;
        expect(figureOf(/^Does not renew/)).toBe(figureOf(/ in 60 days$/));
      }
      const kinds = new Set<string>();
      for (const { href, name, figure, kind } of drawPart(doors, 4)) {
        // all links of a kind are one component: the first one is clicked
        if (kinds.has(kind)) await page.evaluate(goTo, href);
        else {
          await page.evaluate(goTo, url);
          await settled();
          await page
            .locator(`a[href=${JSON.stringify(href)}]`)
            .first()
            .dispatchEvent('click');
        }
        kinds.add(kind);
        await settled();
        expected.push([path, name, href, figure, figure]);
        found.push([path, name, href, await page.evaluate(listed), await countedBy(href)]);
      }
    }
    await page.context().close();
    expect(found).toEqual(expected);
  });
});

test.skipIf(!hasChromium)('numbers of the operator are no link, or lead to an import with as many rows', async () => {
  const consoles = await startBothConsoles([]);
  await consoles.importFaultyRow();
  const page = await (await consoles.browser.newContext()).newPage();
  await consoles.signInOperator(page);
  await page.goto(`${consoles.operatorUrl}/console/`);
  const sentence = page
    .getByRole('listitem')
    .filter({ hasText: '1 row was rejected by imports in the last 24 hours.' });
  await expect.poll(() => sentence.getByRole('link').allInnerTexts()).toEqual(['Imports']);
  await page.goto(`${consoles.operatorUrl}/console/tenants`);
  await page.getByRole('link', { name: '1 loaded, 1 rejected' }).click();
  const rejected = page.getByRole('table', { name: 'Rejected rows' }).getByText(/^Line /);
  await expect.poll(() => rejected.count()).toBe(1);
  await consoles.close();
});
