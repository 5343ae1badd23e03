import type { Page, Route } from 'playwright-core';
import type { ChangesSummary, Subscription } from '../../packages/client/index.ts';
import type { Picture } from './picture.ts';

const subscriptions = '/console/subscriptions';
const api = '**/console/connect-api/v1/*';

const names = [
  `Long ${'name '.repeat(39)}`.trim(),
  'خطة أوروبا ٥ جيجابايت، ٣٠ يومًا',
  '🌍 Global 🚀 5 GB',
  '<script>alert(1)</script>',
];

/** States of the report's console that the data of the demo does not bring about by itself. */
export const reportStates: readonly Picture[] = [
  {
    name: 'sign-in-provider',
    console: 'report',
    path: '/console/',
    isSignedOut: true,
    prepare: async (page) => {
      // as a service with an identity provider says it
      await reloadWith(page, '**/console/session', (route) =>
        route.fulfill({ json: { sign_in: ['provider', 'secret'] } }),
      );
      await page.getByRole('link', { name: 'Sign in with your organization' }).waitFor();
    },
  },
  {
    name: 'overview-loading',
    console: 'report',
    path: '/console/',
    prepare: async (page) => {
      await reloadWith(page, `${api}/summary?*`, () => undefined);
      await page.getByRole('heading', { name: 'All by product' }).waitFor();
      await page.waitForTimeout(300); // the skeleton appears after 150 ms
    },
  },
  {
    name: 'overview-failed-part',
    console: 'report',
    path: '/console/',
    prepare: async (page) => {
      await reloadWith(page, `${api}/summary?*by=auto-renew*`, (route) => refuse(route, 'by=colour'));
      await page.getByRole('alert').first().waitFor();
    },
  },
  {
    name: 'overview-table',
    console: 'report',
    path: '/console/',
    prepare: async (page) => {
      for (const button of await page.getByRole('button', { name: /table/i }).all()) await button.click();
    },
  },
  {
    name: 'overview-numbers-of-a-bar',
    console: 'report',
    path: '/console/',
    prepare: (page) =>
      page
        .getByRole('link', { name: /^March/ })
        .first()
        .hover(),
  },
  {
    name: 'overview-print',
    console: 'report',
    path: '/console/',
    prepare: (page) => page.emulateMedia({ media: 'print' }),
  },
  {
    name: 'changes-some',
    console: 'report',
    path: '/console/changes',
    prepare: showChanges,
  },
  {
    name: 'changes-of-a-status',
    console: 'report',
    path: '/console/changes?since=2026-11-01&field=status&to=DEPLETED',
    prepare: showChanges,
  },
  {
    name: 'changes-day',
    console: 'report',
    path: '/console/changes?since=7d',
    prepare: (page) => page.getByRole('button', { name: 'Since a day' }).click(),
  },
  {
    name: 'subscriptions-names',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await reloadWith(page, /\/subscription(\?|$)/, async (route) => {
        if (route.request().resourceType() === 'document') return route.continue();
        const response = await route.fetch();
        const json = await response.json();
        json.forEach((record: { product: { name: string }; device_id: string }, index: number) => {
          record.product.name = names[index % names.length] ?? '';
          if (index % 3 === 0) record.device_id = 'device-'.repeat(20);
        });
        return route.fulfill({ response, json });
      });
      await page
        .getByText(/Global/)
        .first()
        .waitFor();
    },
  },
  {
    name: 'subscriptions-error',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.route(/v1\/subscription\?.*sort=expirationDate/, (route) => refuse(route, 'sort=colour'));
      await page.keyboard.press(']');
      await page.goto(page.url().replace(/\?.*|$/, '?sort=expirationDate'));
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'subscriptions-unknown-subscriber',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'ICCID, email address, status or page' }).fill('nobody@example.com');
      await page.keyboard.press('Enter');
      await page.getByText('have an email address').waitFor();
    },
  },
  { name: 'counts-by-product', console: 'report', path: `${subscriptions}?status=ACTIVE&by=product-id` },
  { name: 'counts-by-day', console: 'report', path: `${subscriptions}?expires-within=30d&by=day` },
  { name: 'subscriptions-past-the-end', console: 'report', path: `${subscriptions}?page=999` },
  { name: 'subscriptions-hidden-email', console: 'report', path: `${subscriptions}?email=hidden` },
  {
    name: 'subscriptions-chips',
    console: 'report',
    path: `${subscriptions}?status=ACTIVE,DEPLETED&auto-renew=true&created-from=2025-01-01T00:00:00Z&expires-within=60d`,
  },
  { name: 'find', console: 'report', path: subscriptions, prepare: (page) => page.keyboard.press('Control+k') },
  {
    name: 'share',
    console: 'report',
    path: `${subscriptions}?status=ACTIVE`,
    prepare: (page) => page.getByRole('button', { name: 'Share', exact: true }).click(),
  },
  { name: 'filters', console: 'report', path: subscriptions, prepare: (page) => page.keyboard.press('/') },
  ...['Status', 'Product', 'Created', 'Ends within', 'Renewal', 'ICCID'].map(
    (filter): Picture => ({
      name: `filter-${filter.toLowerCase().replace(' ', '-')}`,
      console: 'report',
      path: subscriptions,
      prepare: async (page) => {
        await page.keyboard.press('/');
        await page.getByRole('option', { name: filter, exact: true }).click();
        await page.waitForLoadState('networkidle');
      },
    }),
  ),
  {
    name: 'columns',
    console: 'report',
    path: subscriptions,
    prepare: (page) => page.getByRole('button', { name: 'Columns' }).click(),
  },
  {
    name: 'record',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.getByRole('link', { name: /ICCID/ }).first().click();
      await page.getByText('Command for curl').waitFor();
    },
  },
  {
    name: 'sim',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.getByRole('link', { name: /ICCID/ }).first().click();
      await page.getByRole('link', { name: 'Time line of the SIM' }).click();
      await page.getByRole('heading', { level: 1, name: 'SIM' }).waitFor();
      await page.getByText('Created').first().waitFor();
    },
  },
  {
    name: 'record-missing',
    console: 'report',
    path: `${subscriptions}/00000000-0000-4000-8000-000000000000`,
  },
  {
    name: 'subscriptions-print',
    console: 'report',
    path: `${subscriptions}?status=ACTIVE`,
    prepare: (page) => page.emulateMedia({ media: 'print' }),
  },
  {
    name: 'export-menu',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.keyboard.press('e');
      await page.getByRole('menu').waitFor();
    },
  },
  { name: 'export-tray', console: 'report', path: subscriptions, prepare: exportCsv },
  {
    name: 'exports-complete',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await exportCsv(page);
      await page.getByRole('navigation').getByRole('link', { name: 'Exports' }).click();
      await page.getByRole('button', { name: 'Copy checksum' }).first().waitFor();
    },
  },
  {
    name: 'refresh-offer',
    console: 'report',
    path: subscriptions,
    prepare: async (page) => {
      await page.route('**/changes?*', (route) =>
        route.fulfill({ json: { changes: [{}, {}, {}], next: 'x', has_more: false } }),
      );
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.getByRole('button', { name: 'Refresh' }).waitFor();
    },
  },
];

/** Lets the service refuse a request, so that the page shows a real error. */
async function refuse(route: Route, query: string): Promise<void> {
  const { origin, pathname } = new URL(route.request().url());
  await route.continue({ url: `${origin}${pathname}?${query}` });
}

async function reloadWith(page: Page, url: string | RegExp, answer: (route: Route) => unknown): Promise<void> {
  await page.route(url, answer);
  await page.reload();
}

const depleted = (count: number) => [{ from: 'ACTIVE', to: 'DEPLETED', count }];
const importCounts = { renewed: 0, omitted: 0 };

/** The counts of the changes that `showChanges` lists. */
const changesSummary: ChangesSummary = {
  ...{ total: 12, added: 3, changed: 6, removed: 3, renewed: 0 },
  by: {
    ...{ status: depleted(6), 'product-id': [], 'auto-renew': [] },
    day: [
      { value: '2026-11-19', added: 2, changed: 4, removed: 2 },
      { value: '2026-11-20', added: 1, changed: 2, removed: 1 },
    ],
    import: [
      {
        ...{ import_id: 'a', first_at: '2026-11-20T02:00:04Z', last_at: '2026-11-20T02:00:04Z' },
        ...{ ...importCounts, added: 1, changed: 2, removed: 1, status: depleted(2) },
      },
      {
        ...{ import_id: 'b', first_at: '2026-11-19T02:00:04Z', last_at: '2026-11-19T02:00:04Z' },
        ...{ ...importCounts, added: 2, changed: 4, removed: 2, status: depleted(4) },
      },
    ],
  },
  omitted: { status: 0, 'product-id': 0, import: 0 },
  ...{ since_revision: 1, revision: 3, next: 'x' },
};

/**
 * Answers with the changes of two imports: added, changed and removed records, the newest first.
 */
async function showChanges(page: Page): Promise<void> {
  await page.route('**/subscription/changes?*', async (route) => {
    const headers = route.request().headers();
    const list = await page.request.get(new URL('../subscription?size=12', route.request().url()).href, { headers });
    const changes = (await list.json()).map((record: Subscription, index: number) => {
      const import_id = index < 4 ? 'a' : 'b';
      const committed_at = index < 4 ? '2026-11-20T02:00:04Z' : '2026-11-19T02:00:04Z';
      const made = { import_id, committed_at };
      if (index % 4 === 0) return { ...record, ...made, kind: 'added' };
      if (index % 4 === 3) return { id: record.id, removed: true, ...made, kind: 'removed', before: record };
      const before = { ...record, status: 'ACTIVE', expirationDate: '2026-11-30T00:00:00Z' };
      return { ...record, status: 'DEPLETED', ...made, kind: 'changed', before };
    });
    await route.fulfill({ json: { changes, next: 'x', has_more: false } });
  });
  await page.route('**/subscription/changes/summary?*', (route) => route.fulfill({ json: changesSummary }));
  await page.reload();
  await page.getByRole('heading', { name: /^\d+ added/ }).waitFor();
}

async function exportCsv(page: Page): Promise<void> {
  await page.evaluate(() => Object.assign(window, { showSaveFilePicker: undefined }));
  await page.keyboard.press('e');
  await page.getByRole('menuitem', { name: /CSV/ }).click();
  await page
    .getByText(/^Complete/)
    .first()
    .waitFor();
}
