import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { isWhole } from '../../../test/support/draw.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';
import { findZone } from '../../contract/zone.ts';
import { describeEnd } from '../report/words/describe-end.ts';
import { readZoneFrom, zoneName } from '../report/zone/local-days.ts';
import { formatZonedDay, showDaysIn } from '../ui/format-date.ts';
import { statusWord } from '../ui/status-label.tsx';
import { countRequests, goTo, isSettled } from './crawl.ts';

/** A third of them ends soon, which the table says in days. */
const before = rowsOf(60).map((row, n) => {
  const soon = new Date(Date.now() + (n + 2) * 86_400_000).toISOString().replace(/\.\d+/, '');
  return { ...row, expirationDate: n % 3 === 0 ? soon : row.expirationDate };
});
const after = before.map((row, n) => ({ ...row, status: n % 2 === 0 ? 'CHANGED' : row.status, device_id: `now-${n}` }));

const query = fc.record({
  'as-of': fc.constantFrom('', 'past'),
  zone: fc.constantFrom('', 'Asia/Kathmandu', 'America/Los_Angeles'),
  status: fc.constantFrom('', '', 'ACTIVE', 'EXPIRED'),
  sort: fc.constantFrom('', 'createdDate', '-expirationDate', 'activationDate'),
});
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ column: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ width: fc.constantFrom(600, 900, 1024, 1280, 1600, 1920) }) },
  { weight: 2, arbitrary: fc.record({ query }) },
  { weight: 2, arbitrary: fc.record({ key: fc.constantFrom('ArrowDown', 'ArrowUp') }) },
  { weight: 2, arbitrary: fc.record({ by: fc.constantFrom(-1, 1) }) },
);
const walked = fc.sample(steps, { numRuns: isWhole ? 400 : 60, seed: Number(process.env.DRAW) });

/** What the rows show: their cells by their headings, or the lines of a narrow window. */
const readRows = () => {
  const heads = [...document.querySelectorAll<HTMLElement>('thead th')].map(({ innerText }) => innerText.trim());
  return [...document.querySelectorAll<HTMLElement>('[data-row]')].map((row) => ({
    id: row.dataset.row ?? '',
    text: row.innerText,
    cells: [...row.querySelectorAll('td')].map((cell, at) => [heads[at] ?? '', cell.innerText.trim()] as const),
    isStop: row.querySelector('a')?.tabIndex === 0,
    hasFocus: row.contains(document.activeElement),
  }));
};

describe.skipIf(!hasChromium)('the table of the subscriptions', () => {
  let reports: ReportConsole;
  let page: Page;
  let past: string;
  /** Where the walk is in its history, and where that ends. */
  let [entry, last] = [0, 0];
  beforeAll(async () => {
    reports = await startReportConsole(before);
    await setTimeout(1_000); // the history tells apart only what is a second apart
    past = `${new Date().toISOString().slice(0, 19)}Z`;
    await setTimeout(1_000);
    await reports.load(after);
  });
  afterAll(() => reports.close());

  /** Compares what is shown with the records that the address names. */
  async function check(trail: readonly object[], now: Date): Promise<void> {
    const { searchParams } = new URL(page.url());
    const moment = searchParams.get('as-of') ?? now;
    readZoneFrom(() => findZone(searchParams.get('zone') ?? 'UTC'));
    showDaysIn(zoneName);
    const records = new Map((moment === now ? after : before).map((record) => [record.id, record]));
    const day = (date: string) => formatZonedDay(new Date(date));
    const rows = await page.evaluate(readRows);
    const status = searchParams.get('status');
    const matching = [...records.values()].filter((record) => status === null || record.status === status);
    expect([trail, rows.length]).toEqual([trail, Math.min(matching.length, 20)]);
    for (const { id, text, cells } of rows) {
      const { product, iccid, ...record } = records.get(id) ?? expect.unreachable();
      const shown: Readonly<Record<string, string>> = {
        Status: statusWord(record.status ?? null),
        Product: product.name ?? '',
        ICCID: iccid.slice(-3),
        Device: record.device_id,
        Plan: product.plan_id ?? '',
        Created: day(record.createdDate),
        Activated: day(record.activationDate),
        Ends: describeEnd(record.expirationDate, new Date(moment).getTime()) ?? day(record.expirationDate),
        Renews: record.auto_renew === 'true' ? 'Yes' : 'No',
        Id: id,
      };
      const read = cells.map(([head, cell]) => [head, head === 'ICCID' ? cell.slice(-3) : cell]);
      expect([trail, read]).toEqual([trail, cells.map(([head]) => [head, shown[head]])]);
      for (const word of ['Status', 'Product'])
        expect([trail, text]).toEqual([trail, expect.stringContaining(shown[word] ?? '')]);
    }
    const [stop, ...others] = rows.filter(({ isStop }) => isStop);
    const focused = rows.find(({ hasFocus }) => hasFocus) ?? stop;
    const isLost = await page.evaluate(() => document.activeElement === document.body);
    expect([trail, focused?.id, others, isLost]).toEqual([trail, stop?.id, [], false]);
  }

  async function take(step: (typeof walked)[number]): Promise<void> {
    if ('width' in step) return page.setViewportSize({ width: step.width, height: 800 });
    if ('column' in step) {
      const button = page.getByRole('button', { name: 'Columns' });
      if ((await button.count()) === 0) return; // a narrow window has none
      await button.click();
      await page.getByRole('group', { name: 'Columns' }).getByRole('checkbox').nth(step.column).click();
      return page.keyboard.press('Escape');
    }
    if ('key' in step) return page.keyboard.press(step.key);
    if ('by' in step) {
      if (entry + step.by < 0 || entry + step.by > last) return; // no entry of the walk
      entry += step.by;
      return page.evaluate((by) => history.go(by), step.by);
    }
    last = ++entry;
    const given = Object.entries(step.query).filter(([, value]) => value !== '');
    const search = new URLSearchParams(given.map(([name, value]) => [name, value === 'past' ? past : value]));
    await page.evaluate(goTo, `/console/subscriptions?${search}`);
  }

  test('shows each value under its heading, keeps the focus, and has one tab stop, whatever is changed', async () => {
    const [now, errors]: [Date, string[]] = [new Date(), []];
    page = await reports.open('/console/subscriptions', {
      prepare: async (opened) => {
        await opened.clock.setFixedTime(now); // no midnight passes
        await opened.addInitScript(countRequests);
        opened.on('pageerror', ({ message }) => errors.push(message));
      },
    });
    await page.waitForFunction(isSettled);
    await page.keyboard.press('ArrowDown');
    for (const [at, step] of walked.entries()) {
      await take(step);
      await page.waitForFunction(isSettled);
      await check(walked.slice(Math.max(0, at - 9), at + 1), now);
    }
    expect(errors).toEqual([]);
  });
});
