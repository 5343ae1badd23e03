import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';
import { subscriptionRow } from '../../../test/support/rows.ts';
import { runHere } from '../../../test/support/run-here.ts';
import { createClientWith } from '../../client/client.ts';
import { systemClock } from '../../client/clock.ts';
import type { SubreportClient, SubscriptionSummary } from '../../client/index.ts';
import { optionsOf } from '../../client/test/client-service.ts';
import { tools } from '../../mcp/tools.ts';
import type { TenantId } from '../../service/storage/store.ts';

// Every surface that counts the records of a tenant of 21,000 says what the model says. No page,
// and no list of 100, 1,000 or 20,000 of them, the longest of any surface, may be taken for all.

const all = 21_000;
const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const numbers = Array.from({ length: all }, (_, n) => n);

/**
 * One of 100 ends in three days, and every second one of these does not renew; the other ones end
 * later.
 */
const rowOf = (n: number) =>
  subscriptionRow({
    id: `id_${String(n).padStart(6, '0')}`,
    status: n % 10 < 6 ? 'ACTIVE' : n % 10 < 9 ? 'DEPLETED' : null,
    productId: `product-${n % 7}`,
    createdDate: now - 300 * day + n * 60,
    expirationDate: now + (n % 100 === 0 ? 3 : 200) * day,
    autoRenew: n % 200 === 0 ? 'false' : 'true',
    iccid: String(8_944_500_102_190_000_000n + BigInt(n >> 8)),
    deviceId: `device-${n}`,
    email: n % 4 === 0 ? 'many@example.com' : null,
  });

const model = {
  ACTIVE: (all * 6) / 10,
  DEPLETED: (all * 3) / 10,
  none: all / 10,
  ending: all / 100,
  notRenewed: all / 200,
  product0: numbers.filter((n) => n % 7 === 0).length,
};
const shown = (count: number): string => count.toLocaleString('en');

let reports: ReportConsole;
let client: SubreportClient;
let folder: string;
const tenant = 'acme' as TenantId;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-many-'));
  reports = await startReportConsole([]);
  client = createClientWith(optionsOf(reports.service, reports.client) as never, systemClock);
});
beforeAll(() => reports.service.store.loadSubscriptions(tenant, numbers.map(rowOf)));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await reports.close();
});

const statuses = [
  { value: 'ACTIVE', count: model.ACTIVE },
  { value: 'DEPLETED', count: model.DEPLETED },
  { value: null, count: model.none },
];
const byStatus = ({ by }: Pick<SubscriptionSummary, 'by'>) =>
  (by.status ?? []).toSorted((a, b) => b.count - a.count).map(({ value, count }) => ({ value, count }));

describe('21,000 records', () => {
  test('are counted exactly by the API and the client library', async () => {
    const token = await reports.service.accessToken(reports.client);
    for (const [query, count] of [
      ['', all],
      ['?status=none', model.none],
      ['?product-id=product-0', model.product0],
      ['?expires-within=7d&auto-renew=false', model.notRenewed],
      [`?page=${all / 100}&size=100`, all],
      ['?page=9999999&size=100', all],
    ] as const) {
      const response = await reports.service.get(`/v1/subscription${query}`, token);
      expect([query, response.headers.get('x-total-count')]).toEqual([query, String(count)]);
    }
    expect(await client.subscriptions({ status: 'DEPLETED' }).total()).toBe(model.DEPLETED);
    expect(await client.subscriptions({ email: 'many@example.com' }).total()).toBe(all / 4);
    const summary = await client.summary({ by: ['status', 'product-id', 'month'] });
    expect([summary.total, byStatus(summary)]).toEqual([all, statuses]);
    for (const counts of [summary.by['product-id'], summary.by.month])
      expect((counts ?? []).reduce((sum, { count }) => sum + count, 0)).toBe(all);
  });

  test('are counted exactly by the command line', async () => {
    const environment = { XDG_CONFIG_HOME: join(folder, 'config') };
    const login = ['login', '--url', reports.service.url, '--client-id', reports.client.client_id];
    const { stdout } = await runHere([...login, '--profile', 'default'], {
      ...environment,
      SUBREPORT_CLIENT_SECRET: reports.client.client_secret,
    });
    expect(stdout).toContain(`${shown(all)} subscriptions`);
    const run = (...args: string[]) => runHere(args, environment);
    expect((await run('list')).stderr).toContain(`1-20 of ${shown(all)}. Next page`);
    expect((await run('list', '--page', String(all / 20 + 1))).stderr).toContain(
      `on this page, ${shown(all)} in total`,
    );
    expect((await run('list', '--email', 'many@example.com')).stderr).toContain(`1-20 of ${shown(all / 4)}.`);
    const summary = JSON.parse((await run('summary', '--json')).stdout) as SubscriptionSummary;
    expect([summary.total, byStatus(summary)]).toEqual([all, statuses]);
    expect((await run('summary', '-o', 'table')).stdout).toMatch(new RegExp(`ACTIVE +- +${shown(model.ACTIVE)}\n`));
    expect((await run('findings')).stderr).toContain(`${shown(all)} subscriptions`);
  });

  test('are counted exactly by the tools of assistants', async () => {
    const call = {
      client,
      options: { correlationId: 'c', signal: new AbortController().signal },
      appliedFilters: () => undefined,
    };
    const ask = (name: string, given: object) => tools[name]?.run(call, { ...given });
    expect(await ask('list_subscriptions', { status: 'none' })).toMatchObject({ total: model.none });
    expect(await ask('list_subscriptions', { size: 3 })).toMatchObject({ total: all, next_cursor: expect.any(String) });
    const summary = (await ask('summarize_subscriptions', {})) as {
      readonly total: number;
      readonly by: { readonly status: readonly [string | null, number][] };
    };
    const counts = summary.by.status.map(([value, count]) => ({ value, count }));
    expect([summary.total, byStatus({ by: { status: counts } })]).toEqual([all, statuses]);
  });

  describe.skipIf(!hasChromium)('in the consoles', () => {
    let page: Page;
    const open = async (path: string): Promise<void> => {
      page = await reports.open(path);
    };
    const close = () => page.context().close();

    test('the overview has the numbers of the model', async () => {
      await open('/console/');
      for (const [label, count] of [
        ['Subscriptions', all],
        ['Active', model.ACTIVE],
        ['End within 7 days without renewal', model.notRenewed],
      ] as const)
        await page.getByRole('link', { name: new RegExp(`^${label}\\s*${shown(count)}$`) }).waitFor();
      await page.getByRole('link', { name: `of ${shown(model.ending)} that end` }).waitFor();
      await page.getByRole('link', { name: `All ${shown(model.notRenewed)} in 60 days` }).waitFor();
      await close();
    });

    test('the list and its print say which rows of all they have', async () => {
      await open('/console/subscriptions?status=none&page=2');
      await page
        .getByText(`${shown(model.none)} subscriptions, newest first, status none`)
        .first()
        .waitFor();
      const printed = page.getByText(`Rows 21 to 40 of ${shown(model.none)}`);
      await printed.waitFor({ state: 'attached' });
      await expect.poll(() => printed.isVisible()).toBe(false);
      await page.emulateMedia({ media: 'print' });
      await expect.poll(() => printed.isVisible()).toBe(true);
      const tops = [printed, page.locator('tbody')].map(async (part) => (await part.boundingBox())?.y ?? 0);
      const [said = 0, rows = 0] = await Promise.all(tops);
      expect(said).toBeLessThan(rows);
      await close();
    });
  });
});
