import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { rowsOf } from '../../../test/support/report-console.ts';
import type { ServiceHealth } from '../../contract/operator/health.ts';

const minuteMs = 60_000;
/** Values that are known: six minutes of the hour. */
const known = [1, 2, 3, 4, 5, 60];

describe.skipIf(!hasChromium)("the charts of the operator's console", () => {
  let consoles: BothConsoles;
  let page: Page;
  /** The response to the list of imports waits for it. */
  let imports: Promise<unknown> = Promise.resolve();

  beforeAll(async () => {
    consoles = await startBothConsoles(rowsOf(3));
    page = await (await consoles.browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await consoles.signInOperator(page);
    await page.route('**/operator/v1/health*', async (route) => {
      const response = await route.fetch();
      const health: ServiceHealth = await response.json();
      const charts = health.charts.map((chart) => ({
        ...chart,
        lines: chart.lines.map((line) => ({ ...line, values: known })),
      }));
      await route.fulfill({ response, json: { ...health, kept_seconds: 300, last_seconds: 45, charts } });
    });
    await page.route('**/operator/v1/imports?*', async (route) => {
      await imports;
      const response = await route.fetch();
      const started = new Date(Date.now() - 10 * minuteMs).toISOString().slice(0, 19);
      await route.fulfill({
        response,
        json: {
          data: [
            { tenant: 'acme', started_at: `${started}Z` },
            { tenant: 'old', started_at: '2020-01-01T00:00:00Z' },
          ],
          next: null,
        },
      });
    });
  });
  beforeEach(async () => {
    await page.goto(`${consoles.operatorUrl}/console/`);
    await charts().nth(7).waitFor();
  });
  afterAll(() => consoles.close());

  const charts = () => page.getByRole('slider');
  const texts = () => charts().evaluateAll((all) => all.map((chart) => chart.getAttribute('aria-valuetext') ?? ''));

  /** The number of marks in each chart. */
  const marks = () =>
    page
      .locator('.line-chart-mark')
      .evaluateAll((all) => all.map((mark) => mark.getAttribute('d')?.match(/M/g)?.length));

  test('the last hour is an hour wide, also when six minutes are known', async () => {
    const requests = page.getByRole('slider', { name: 'Report requests' });
    const drawn = (await requests.locator('.line-chart-stroke').first().getAttribute('d')) ?? '';
    // the width is 100
    const places = [...drawn.matchAll(/[ML]([\d.]+),/g)].map((point) => (Number(point[1]) * 60) / 100);
    expect(places.map((place) => place.toFixed(2))).toEqual(['55.25', '56.25', '57.25', '58.25', '59.25', '60.00']);
    const labels = await requests.locator('.line-chart-times span').allInnerTexts();
    expect(labels).toHaveLength(3);
    const ends = [labels[0], labels[2]].map(
      (label) =>
        /(\d\d):(\d\d)/
          .exec(label ?? '')
          ?.slice(1)
          .map(Number) ?? [],
    );
    const [from = 0, to = 0] = ends.map(([hour = 0, minute = 0]) => hour * 60 + minute);
    expect((to - from + 1440) % 1440).toBe(60);
  });

  test('the pointer and the arrow keys show the values of one time in all charts', async () => {
    const first = charts().first();
    const box = await first.boundingBox();
    if (box === null) expect.unreachable();
    await page.mouse.move(box.x + (box.width * 58) / 60, box.y + 20);
    await expect.poll(async () => new Set((await texts()).map((text) => text.split(': ')[0])).size).toBe(1);
    await expect.poll(async () => (await texts())[0]).toMatch(/^(\d+ \w+, )?\d\d:\d\d UTC: successful 4/);
    await expect.poll(() => page.locator('.line-chart-cursor').count()).toBe(8);
    await page.mouse.move(0, 0);
    await expect.poll(async () => (await texts())[0]).toMatch(/^Now: successful 60/);
    await first.focus();
    for (const key of ['Control', 'Alt', 'Meta']) await page.keyboard.press(`${key}+ArrowUp`);
    await expect.poll(async () => (await texts())[0]).toMatch(/^Now/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await texts())[0]).toMatch(/UTC: successful 5/);
    await page.keyboard.press('ArrowLeft');
    const values = page.locator('.health-tile').nth(1).locator('strong').first();
    await expect.poll(() => values.innerText()).toBe('4 ms');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Home');
    await expect.poll(async () => (await texts())[0]).toMatch(/successful (none|–|—)/);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await texts())[0]).toMatch(/^Now/);
  });

  test('an import is a mark in each chart, and named at its time', async () => {
    await page.getByRole('link', { name: '1 import is marked' }).waitFor();
    await expect.poll(marks).toEqual(Array.from({ length: 8 }, () => 1));
    await charts().first().focus();
    for (let minute = 0; minute < 10; minute += 1) await page.keyboard.press('ArrowLeft');
    await page.getByText('import into acme began').waitFor();
    await expect.poll(() => page.locator('.health-moment strong').innerText()).toMatch(/^(\d+ \w+, )?\d\d:\d\d UTC$/);
  });

  test('the charts do not wait for the imports', async () => {
    let respond = (): void => undefined;
    imports = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.reload();
    await charts().nth(7).waitFor();
    await page.getByRole('link', { name: 'imports are being read' }).waitFor();
    await expect.poll(marks).toEqual(Array.from({ length: 8 }, () => undefined));
    respond();
    await page.getByRole('link', { name: '1 import is marked' }).waitFor();
  });
});
