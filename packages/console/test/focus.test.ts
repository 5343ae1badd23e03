import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { signIn as signInClient } from '../../../test/support/console-session.ts';
import { drawOne, drawPart } from '../../../test/support/draw.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { rowsOf } from '../../../test/support/report-console.ts';
import type { TenantId } from '../../service/storage/store.ts';
import {
  activate,
  type Control,
  closeOverlays,
  countRequests,
  goTo,
  type Hand,
  hasOverlay,
  isSettled,
  listControls,
  takeDropped,
  watchClosings,
} from './crawl.ts';

/** Controls that are activated one after another to reach one: those of menus in menus at most. */
const depthMax = 3;

/** The path of a page without its items: one tenant's page is like another's. */
const pageOf = (url: string): string => new URL(url).pathname.replace(/^(\/console\/\w+)\/.+/, '$1/*');

const parametersOf = (url: string): string[] => [...new URL(url).searchParams.keys()].sort();

interface Step {
  readonly url: string;
  /** The control, after those that show it. */
  readonly way: readonly Control[];
  /** What the control is used by. */
  readonly by: Hand;
}

/** Every second one of a part is by mouse. */
const byEachHand = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [step, { ...step, by: 'mouse of Safari' as const }]);

/** Activates each control of a console, from some pages on; returns those that lost the focus. */
async function crawl(page: Page, starts: readonly string[], signIn: () => Promise<void>): Promise<Crawled> {
  const lost: string[] = [];
  const missed: string[] = [];
  const tried = new Set<string>();
  const visited = new Set<string>();
  const queue: Step[] = [];
  const settled = async (): Promise<void> => {
    await page.waitForFunction(isSettled);
  };
  const isSignedIn = async (): Promise<boolean> => (await page.locator('#title').count()) > 0;
  const load = async (url: string): Promise<void> => {
    await page.goto(url);
    await settled();
    if (await isSignedIn()) return;
    await signIn();
    await page.goto(url);
    await settled();
  };
  /** Shows an address with nothing open, and without loading the page again if it can. */
  const show = async (url: string): Promise<void> => {
    if (page.url().includes('/console/')) await page.evaluate(closeOverlays);
    if (!(await isSignedIn()) || (await page.evaluate(hasOverlay))) return load(url);
    if (page.url() === url) return;
    await page.evaluate(goTo, url);
    await settled();
  };
  /** Queues the controls that are on screen and that no page had before. */
  const found = async (url: string, way: readonly Control[]): Promise<void> => {
    const steps: Step[] = [];
    for (const control of await page.evaluate(listControls)) {
      // a page has the controls of its things too, and a menu those of the menus in it
      const place = control.isOfFrame ? '' : pageOf(url).replace('/*', '');
      const key = [place, ...way.slice(0, 1).map(({ name }) => name), control.key].join(' > ');
      // the lists of lists hold values, one like another
      if (tried.has(key) || (way.length > 1 && control.isFurtherChoice)) continue;
      tried.add(key);
      steps.push({ url, way: [...way, control], by: 'key' });
    }
    // first those of what is open: menus have many controls of a kind
    if (way.length > 0) queue.unshift(...drawPart(byEachHand(steps), 7));
    else queue.push(...steps);
  };
  const enter = async (url: string): Promise<void> => {
    const template = [pageOf(url), ...parametersOf(url)].join(' ');
    if (visited.has(template) || parametersOf(url).length > 1) return;
    visited.add(template);
    await show(url);
    await found(url, []);
  };
  /** Whether each control of a way was there. */
  const take = async (way: readonly Control[], by: Hand): Promise<boolean> => {
    for (const control of way) {
      await page.evaluate(listControls);
      const hand = control === way.at(-1) ? by : 'key';
      if (!(await page.evaluate(activate, { key: control.key, by: hand }))) return false;
      await settled();
    }
    return true;
  };
  /** Activates a control; if an earlier one has hidden it, on the page as it is at first. */
  const reach = async ({ url, way, by }: Step): Promise<boolean> => {
    await show(url);
    if (await take(way, by)) return true;
    await page.evaluate(() => localStorage.clear());
    await load(url);
    return take(way, by);
  };
  for (const start of starts) await enter(start);
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    const { url, way, by } = step;
    const name = `${pageOf(url)}: ${way.map((control) => control.name).join(' > ')} by ${by}`;
    if (!(await reach(step))) {
      missed.push(name);
      continue;
    }
    const isOpen = await page.evaluate(hasOverlay);
    const isOnNothing = await page.evaluate(() => document.activeElement === document.body);
    if (isOnNothing && !(isOpen && by !== 'key')) lost.push(name);
    lost.push(...(await page.evaluate(takeDropped)).map((closed) => `${name}: closing ${closed}`));
    const to = page.url();
    if (isOpen) {
      if (way.length < depthMax) await found(url, way);
    } else if (to !== url && to.includes('/console/')) await enter(to);
    if (by === 'key' || !isOpen) continue;
    await page.evaluate(closeOverlays); // nothing in it has the focus
    await page.evaluate(takeDropped);
  }
  return { lost, missed, tried: tried.size, pages: [...visited] };
}

interface Crawled {
  /** Controls after which nothing had the focus. */
  readonly lost: readonly string[];
  /** Controls that were not there anymore. */
  readonly missed: readonly string[];
  readonly tried: number;
  readonly pages: readonly string[];
}

/** The console that a run crawls: each takes 15 to 20 CPU seconds. */
const crawled = drawOne(['report', 'operator'], import.meta.url);

/** Milliseconds for some 200 controls; only a crawl that hangs takes longer. */
const crawlMsMax = 900_000;

describe.skipIf(!hasChromium)('the focus in both consoles', () => {
  let consoles: BothConsoles;
  let importId: string;

  beforeAll(async () => {
    consoles = await startBothConsoles(rowsOf(60));
    // more than a list shows at first
    for (let client = 0; client < 60; client += 1) await consoles.service.createClient('acme' as TenantId);
    importId = await consoles.importFaultyRow();
  });
  afterAll(() => consoles.close());

  async function open(url: string): Promise<Page> {
    // all columns have room, so that none appears when another one is hidden
    const page = await (await consoles.browser.newContext({ viewport: { width: 1920, height: 800 } })).newPage();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.addInitScript(countRequests);
    await page.addInitScript(watchClosings);
    await page.goto(url);
    return page;
  }

  /** The text of the row that has the focus. */
  const rowOf = (page: Page) => page.evaluate(() => document.activeElement?.closest('tr')?.textContent ?? '');

  async function openOperator(path: string): Promise<Page> {
    const page = await open(`${consoles.operatorUrl}/console/`);
    await consoles.signInOperator(page);
    await page.goto(`${consoles.operatorUrl}/console/${path}`);
    return page;
  }

  async function signInReader(page: Page): Promise<void> {
    const { url } = consoles.service;
    const [name = '', value = ''] = (await signInClient(url, consoles.client)).cookie.split('=');
    await page.context().addCookies([{ name, value, url }]);
  }

  test('it moves from a row that was removed to the following row', async () => {
    const client = await consoles.service.createClient('acme' as TenantId);
    for (let session = 0; session < 3; session += 1) await consoles.service.accessToken(client);
    const page = await openOperator(`clients/${client.client_id}`);
    const rows = page.getByRole('table', { name: 'Sessions' }).locator('tbody tr');
    const following = await rows.nth(2).textContent();
    await rows.nth(1).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke tokens' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => rowOf(page)).toBe(following);
  });

  test('it moves from a cell that has no button anymore to the nearest one of its row', async () => {
    for (const name of ['first', 'second']) await consoles.createOperator(name);
    const page = await openOperator('operators');
    const rows = page.getByRole('table').locator('tbody tr');
    const name = (await rows.nth(0).locator('td').first().textContent()) ?? '';
    await rows.nth(0).getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => rows.nth(0).getByRole('button', { name: 'Revoke' }).count()).toBe(0);
    await expect.poll(() => rowOf(page)).toBe(await rows.nth(0).textContent());
  });

  test.runIf(crawled.includes('report'))(
    'no control of the report console drops it',
    async () => {
      const { url } = consoles.service;
      const page = await open(`${url}/console/`);
      const starts = ['exports', 'subscriptions?by=status'].map((path) => `${url}/console/${path}`);
      const { lost, missed, pages, tried } = await crawl(page, starts, () => signInReader(page));
      expect([lost, missed]).toEqual([[], []]);
      for (const name of ['', 'subscriptions', 'subscriptions/*', 'changes', 'findings', 'subscriptions by'])
        expect(pages).toContain(`/console/${name}`);
      expect(tried).toBeGreaterThan(100);
    },
    crawlMsMax,
  );

  test.runIf(crawled.includes('operator'))(
    "no control of the operator's console drops it",
    async () => {
      const { operatorUrl: url } = consoles;
      const page = await open(`${url}/console/`);
      const starts = ['settings', `imports/${importId}`].map((path) => `${url}/console/${path}`);
      const { lost, missed, pages, tried } = await crawl(page, starts, () => consoles.signInOperator(page));
      expect([lost, missed]).toEqual([[], []]);
      for (const name of ['', 'tenants/*', 'clients/*', 'imports', 'imports/*', 'keys', 'audit', 'operators'])
        expect(pages).toContain(`/console/${name}`);
      expect(tried).toBeGreaterThan(60);
    },
    crawlMsMax,
  );
});
