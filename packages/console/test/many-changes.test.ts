import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium } from '../../../test/support/chromium.ts';
import { removeRecords } from '../../../test/support/remove-records.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';
import { subscriptionRow } from '../../../test/support/rows.ts';
import { runHere } from '../../../test/support/run-here.ts';
import { createClientWith } from '../../client/client.ts';
import { systemClock } from '../../client/clock.ts';
import type { ChangesSummary, SubreportClient } from '../../client/index.ts';
import { optionsOf } from '../../client/test/client-service.ts';
import { tools } from '../../mcp/tools.ts';
import type { TenantId } from '../../service/storage/store.ts';
import type { SubscriptionRow } from '../../service/storage/subscription-row.ts';

// No surface may say 0, "nothing", "all" or a total about changes that it did not read. The three
// removals are the oldest ones of 5,000 changes, so a reader that stops early misses them.

const counts = { depleted: 2_951, renewed: 46, moved: 2_000, removed: 3, unchanged: 40 };
const changed = counts.depleted + counts.renewed + counts.moved;
const total = changed + counts.removed;
const all = changed + counts.removed + counts.unchanged;
const importId = '01890a5d-ac96-774b-bcce-b302099a8057';

const rowOf = (n: number, more: Partial<SubscriptionRow> = {}): SubscriptionRow =>
  subscriptionRow({ id: `id_${String(n).padStart(6, '0')}`, createdDate: 1_700_000_000 + n, ...more });

/** The row after the changes: depleted, renewed, or moved to another product. */
function changedRow(n: number): SubscriptionRow {
  if (n < counts.depleted) return rowOf(n, { status: 'DEPLETED' });
  if (n < counts.depleted + counts.renewed) return rowOf(n, { expirationDate: 1_900_000_000 });
  return rowOf(n, { productId: 'product-2' });
}

let reports: ReportConsole;
let client: SubreportClient;
let since: string;
let folder: string;

const tenant = 'acme' as TenantId;
const numbers = Array.from({ length: all }, (_, n) => n);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-changes-'));
  reports = await startReportConsole([]);
  client = createClientWith(optionsOf(reports.service, reports.client) as never, systemClock);
  const { store } = reports.service;
  await store.loadSubscriptions(
    tenant,
    numbers.map((n) => rowOf(n)),
  );
  const { value } = await client.changes('now').next();
  since = value?.next ?? '';
  const gone = numbers.slice(changed, changed + counts.removed).map((n) => rowOf(n).id);
  await removeRecords(store, tenant, gone, [], importId);
  await store.loadSubscriptions(tenant, numbers.slice(0, changed).map(changedRow), undefined, importId);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await reports.close();
});

const expected = { total, added: 0, changed, removed: counts.removed, renewed: counts.renewed };

describe('5,000 changes', () => {
  test('are counted exactly by the API, the client library, the command line and the tools of assistants', async () => {
    const summary = await client.changesSummary(since);
    expect(summary).toMatchObject({
      ...expected,
      by: {
        status: [{ from: 'ACTIVE', to: 'DEPLETED', count: counts.depleted }],
        'product-id': [{ from: 'product-1', to: 'product-2', count: counts.moved }],
        import: [{ import_id: importId, changed, removed: counts.removed }],
      },
      omitted: { status: 0, 'product-id': 0, import: 0 },
    });
    const call = { client, options: { correlationId: 'c', signal: new AbortController().signal } };
    const answer = await tools.summarize_changes?.run({ ...call, appliedFilters: () => undefined }, { since });
    expect(answer).toMatchObject(expected);
    const environment = { XDG_CONFIG_HOME: join(folder, 'config') };
    const { url } = reports.service;
    await runHere(['login', '--url', url, '--client-id', reports.client.client_id, '--profile', 'default'], {
      ...environment,
      SUBREPORT_CLIENT_SECRET: reports.client.client_secret,
    });
    const run = (...args: string[]) => runHere(['changes', '--since', since, ...args], environment);
    expect(JSON.parse((await run('--summary', '--json')).stdout) as ChangesSummary).toEqual(summary);
    const table = await run('--summary', '-o', 'table');
    expect(table.stdout).toMatch(/ACTIVE → DEPLETED +2,951\n/);
    const removed = await run('--kind', 'removed', '--newest', '-o', 'csv');
    expect(removed.stdout.trimEnd().split('\n')).toHaveLength(1 + counts.removed);
    expect(removed.stderr).toContain('3 changes');
  });

  test.each([
    ['kind=removed', counts.removed],
    ['field=renewal', counts.renewed],
    ['kind=added', 0],
  ])('with %s, one page has them all', async (query, count) => {
    const [name = '', value = ''] = query.split('=');
    const options = { size: 1_000, order: 'newest', [name]: value } as const;
    const { value: page } = await client.changes(since, options).next();
    expect([page?.changes.length, page?.hasMore]).toEqual([count, false]);
  });

  describe.skipIf(!hasChromium)('in the console', () => {
    let page: Page;
    const open = async (path: string, width = 1280): Promise<void> => {
      page = await reports.open(path, { width });
    };
    /** The visit ended where the changes begin. */
    const lastVisit = (opened: Page) =>
      opened.addInitScript(
        ([token, key]) => {
          const at = Date.now() - 3_600_000;
          const seen = { token, at };
          if (localStorage.getItem(String(key)) === null)
            localStorage.setItem(String(key), JSON.stringify({ last: seen, current: seen }));
        },
        [since, `subreport.visits.${JSON.stringify(['acme', reports.client.client_id])}`],
      );
    const title = `0 added, ${changed.toLocaleString('en')} changed, 3 removed since your last visit`;

    test.each([360, 1280])(
      'are a sentence of exact numbers at %i pixels, each of which lists what it counts',
      async (width) => {
        page = await reports.open('/console/changes', { width, prepare: lastVisit });
        await page.getByRole('heading', { name: title }).waitFor();
        const sentence = page.locator('.change-parts').first();
        await expect
          .poll(async () => (await sentence.getByRole('link').allInnerTexts()).map((text) => text.trim()))
          .toEqual(['2,951 Active → Depleted', '2,000 moved to another product', '46 renewed', '3 removed']);
        await page.getByText('The list has the newest 100 of 5,000.').waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        await sentence.getByRole('link', { name: '3 removed' }).click();
        await page.getByText('Only: Removed').waitFor();
        await page.getByText('The list has all 3 of them.').waitFor();
        await expect.poll(() => page.locator('.change').count()).toBe(counts.removed);
        await page.getByRole('link', { name: 'Show all changes' }).click();
        await page.locator('.change-parts').first().getByRole('link', { name: '46 renewed' }).click();
        await expect.poll(() => page.locator('.change').count()).toBe(counts.renewed);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
        await page.context().close();
      },
    );

    test('stay new until they are marked as seen, and what was loaded meanwhile stays new then', async () => {
      page = await reports.open('/console/', { prepare: lastVisit });
      await page
        .getByRole('listitem')
        .filter({ hasText: total.toLocaleString('en') })
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Changes', exact: true }).click();
      await page.getByRole('heading', { name: title }).waitFor();
      await reports.service.store.loadSubscriptions(tenant, [rowOf(1_000_000)]);
      await page.getByRole('button', { name: 'Mark as seen' }).click();
      await page.getByRole('heading', { name: /^1 added, 0 changed, 0 removed since your last visit/ }).waitFor();
      await page.context().close();
      await open('/console/changes?since=1d');
      await page.getByRole('heading', { name: /added, .* changed, .* removed/ }).waitFor();
      await page.context().close();
    });
  });
});
