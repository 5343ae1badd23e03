import type { Page } from 'playwright-core';
import type { Picture } from './picture.ts';

const tenant = '/console/tenants/demo';
const api = '**/console/operator/v1';

/** States of the operator's console that the data of the demo does not bring about by itself. */
export const operatorStates: readonly Picture[] = [
  {
    name: 'health-problem',
    console: 'operator',
    path: '/console/',
    prepare: (page) =>
      changeResponse(page, `${api}/health`, (health) => ({
        ...health,
        problems: [
          { id: 'failed-imports', severity: 'error', count: 1 },
          { id: 'rejected-rows', severity: 'warning', count: 3 },
        ],
        check: { tenants: 12, checked: 4 },
      })),
  },
  {
    name: 'tenant-danger-zone',
    console: 'operator',
    path: tenant,
    prepare: (page) => page.locator('summary', { hasText: 'Danger zone' }).click(),
  },
  { name: 'import-checked', console: 'operator', path: tenant, prepare: checkFile },
  {
    name: 'imports-rejected',
    console: 'operator',
    path: '/console/imports',
    prepare: async (page) => {
      await page.goto(new URL(tenant, page.url()).href);
      await checkFile(page);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Imports' }).click();
      await page.getByText('1 valid, 1 rejected').first().waitFor();
    },
  },
  {
    name: 'client',
    console: 'operator',
    path: '/console/clients',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Demo reports' }).click();
      await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    },
  },
  {
    name: 'client-secret',
    console: 'operator',
    path: tenant,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Create client' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Finance, Acme');
      await page.getByRole('dialog').getByRole('button', { name: 'Create client' }).click();
      await page.getByLabel('I have stored it').waitFor();
    },
  },
  {
    name: 'audit-entry',
    console: 'operator',
    path: '/console/audit?since=2026-01-01T00:00:00Z&action=operator.create',
    prepare: (page) =>
      page
        .getByRole('button', { name: /^Show entry/ })
        .first()
        .click(),
  },
  {
    name: 'tenants-none-found',
    console: 'operator',
    path: '/console/tenants',
    prepare: (page) => page.getByLabel('Search by name').fill('other'),
  },
  {
    name: 'rotate-key',
    console: 'operator',
    path: '/console/keys',
    prepare: (page) => page.getByRole('button', { name: 'Rotate a key' }).click(),
  },
  {
    name: 'create-token',
    console: 'operator',
    path: '/console/operators',
    prepare: (page) => page.getByRole('button', { name: 'Create token' }).click(),
  },
];

/** Reloads the page with a response of the service that has other members. */
async function changeResponse(page: Page, url: string, change: (body: object) => object): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change(await response.json()) });
  });
  await page.reload();
  await page.waitForLoadState('networkidle');
}

/** Checks a file with a valid row and one that is rejected. */
async function checkFile(page: Page): Promise<void> {
  const product = { id: 'p', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'plan' };
  const dates = { createdDate: '2026-01-01T00:00:00Z', activationDate: '2026-01-01T00:00:00Z' };
  const row = {
    id: 'a',
    ...dates,
    expirationDate: '2026-01-31T00:00:00Z',
    product,
    device_id: 'd',
    auto_renew: 'true',
  };
  const lines = ['89445002600000020', 'not a number'].map((iccid) => `${JSON.stringify({ ...row, iccid })}\n`);
  await page
    .getByLabel('choose a file')
    .setInputFiles({ name: 'rows.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines.join('')) });
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByRole('table', { name: 'Rejected rows' }).waitFor();
}
