import type { Page, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, rowsOf, startReportConsole } from '../../../test/support/report-console.ts';
import { pollMs } from '../report/live/change-watch.ts';

const rows = rowsOf(1200);

describe.skipIf(!hasChromium)('the offer to refresh in a browser', () => {
  let console: ReportConsole;
  let page: Page;
  let polls: Response[];
  let runs = 0;

  beforeAll(async () => {
    console = await startReportConsole(rows);
  });
  afterAll(() => console.close());
  beforeEach(async () => {
    polls = [];
    page = await console.open('/console/subscriptions', {
      prepare: async (opened) => {
        await opened.clock.install();
        opened.on('response', (response) => {
          if (response.url().includes('/changes')) polls.push(response);
        });
      },
    });
    await untilPolled(1); // it has a token of the moment of opening
  });
  afterEach(() => page.context().close());

  const untilPolled = (count: number) => expect.poll(() => polls.length).toBeGreaterThanOrEqual(count);
  /** Lets time pass until there was another poll. */
  const passTime = async (): Promise<void> => {
    const { length } = polls;
    const pass = () => page.clock.runFor(pollMs).then(() => polls.length);
    await expect.poll(pass).toBeGreaterThan(length);
  };
  /** Changes a number of records, to other values at each call. */
  const change = (count: number): Promise<void> => {
    runs += 1;
    return console.load(rows.slice(0, count).map((row) => ({ ...row, device_id: `changed-${runs}` })));
  };
  const offer = (sentence: string) => page.getByText(sentence, { exact: true });
  /** The lines of the page, without the offer. */
  const lines = async (): Promise<string[]> => {
    const text = await page.getByRole('main').innerText();
    return text.split('\n').filter((line) => !/^(|Refresh|.* changed since you opened this)$/.test(line));
  };

  test('it appears after an import, moves nothing by itself, and refreshing shows the new records', async () => {
    await page.getByText('changed since').waitFor({ state: 'detached' });
    await change(3);
    const [newest] = rows.slice(-1);
    await console.load([{ ...newest, id: 'bmV3', createdDate: '2026-06-01T00:00:00Z' }]);
    const before = await lines();
    await passTime();
    await offer('4 changed since you opened this').first().waitFor();
    await expect.poll(lines).toEqual(before);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await offer('4 changed since you opened this').first().waitFor({ state: 'detached' });
    await expect.poll(lines).not.toEqual(before);
  });

  test('polls are in the background, and cost a 304 while nothing changes', async () => {
    await passTime();
    await passTime();
    await passTime();
    const [token, first, ...later] = polls.map((poll) => poll.status());
    expect([token, first, new Set(later)]).toEqual([200, 200, new Set([304])]);
    for (const poll of polls) expect(await poll.request().headerValue('x-background')).toBe('1');
  });

  test('more than 1,000 changes are not counted further, and no longer polled', async () => {
    await change(1100);
    await passTime();
    await offer('More than 1,000 changed since you opened this').first().waitFor();
    const { length } = polls;
    await page.clock.runFor(20 * pollMs);
    expect(polls.length).toBe(length);
  });

  test('nothing is polled while there is no network, and at once when it is back', async () => {
    await page.context().setOffline(true);
    const { length } = polls;
    await page.clock.runFor(20 * pollMs);
    expect(polls.length).toBe(length);
    await change(2);
    await page.context().setOffline(false);
    await offer('2 changed since you opened this').first().waitFor();
  });

  test('nothing is polled after signing out', async () => {
    await page.getByRole('button', { name: console.client.client_id }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Client id').waitFor();
    const { length } = polls;
    await page.clock.runFor(20 * pollMs);
    expect(polls.length).toBe(length);
  });
});
