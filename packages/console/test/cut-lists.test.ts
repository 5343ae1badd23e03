import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { subscriptionRow } from '../../../test/support/rows.ts';
import type { TenantId } from '../../service/storage/store.ts';
import { insertClient } from '../../service/storage/tables/client-changes.ts';
import { insertTenant } from '../../service/storage/tables/tenant.ts';

// A list that has only the first of its rows says so, also on paper, and offers nothing that needs
// all of them.

const productCount = 250;
const now = Math.floor(Date.now() / 1000);
const products = Array.from({ length: productCount }, (_, n) =>
  subscriptionRow({ id: `id_${n}`, productId: `product-${String(n).padStart(3, '0')}` }),
);

describe.skipIf(!hasChromium)('a list that is longer than what is read or shown', () => {
  let consoles: BothConsoles;
  let management: string;
  beforeAll(async () => {
    consoles = await startBothConsoles([]);
    management = `${consoles.operatorUrl}/console/`;
    const { store } = consoles.service;
    await store.loadSubscriptions('acme' as TenantId, products);
    for (let n = 0; n < 1_000; n += 1) await insertTenant(store, `b${String(n).padStart(4, '0')}` as TenantId, now);
  });
  afterAll(() => consoles.close());

  describe("in the operator's console", () => {
    let page: Page;
    beforeAll(async () => {
      page = await (await consoles.browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
      await consoles.signInOperator(page);
    });
    afterAll(() => page.context().close());

    test('the first 1,000 tenants are neither sorted nor searched as if they were all', async () => {
      await page.goto(`${management}tenants`);
      await page.getByText('1,000 tenants (the first by name), 250 records').waitFor();
      const sortButtons = page.getByRole('columnheader').getByRole('button');
      expect(await sortButtons.count()).toBe(0);
      await page.getByLabel('Search by name').fill('b0999');
      await page.getByRole('heading', { name: 'None of the first 1,000 tenants has this in its name' }).waitFor();
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.getByText('1 of 1,001 tenants, 0 records').waitFor();
      await expect.poll(() => sortButtons.count()).toBe(5);
    });

    test('a filter that suggests the first 200 tenants accepts another one', async () => {
      await page.goto(`${management}clients`);
      await expect.poll(() => page.locator('datalist option').count()).toBe(200);
      await page.getByLabel('Tenant').fill('b0999');
      await page.getByLabel('Tenant').press('Enter');
      await page.getByRole('heading', { name: 'No client matches these filters' }).waitFor();
    });

    test('the audit log says which clients it names', async () => {
      const client = {
        tenant: 'acme' as TenantId,
        grants: [],
        scopes: [],
        createdAt: now,
        disabledAt: null,
        lastUsedAt: null,
      };
      const { store } = consoles.service;
      for (let n = 0; n < 201; n += 1)
        await insertClient(
          store,
          { ...client, clientId: `c${String(n).padStart(3, '0')}`, name: `Client ${n}` },
          undefined,
        );
      await page.goto(`${management}audit`);
      await page.getByText('The names of the first 200 clients are shown; others have only an id.').waitFor();
    });
  });

  describe("in the report's console", () => {
    let page: Page;
    afterAll(() => page.context().close());

    test('the products of a filter are the first of all, and typing finds the others', async () => {
      page = await consoles.open('/console/subscriptions');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('option', { name: 'Product', exact: true }).click();
      const options = page.getByRole('listbox', { name: 'Product' }).getByRole('option');
      await page.getByText(`The first 100 of ${productCount} products. Type to find another one.`).waitFor();
      await page.getByPlaceholder('Type to find a product').fill('product-1');
      await page.getByText(/^The first/).waitFor({ state: 'detached' });
      await expect.poll(() => options.count()).toBe(100);
      await page.getByPlaceholder('Type to find a product').fill('product-24');
      await expect.poll(() => options.count()).toBe(10);
      expect(await page.getByText(/^The first/).count()).toBe(0);
    });

    test('the counts say how many of the values are listed, also on paper', async () => {
      await page.goto(`${consoles.service.url}/console/subscriptions?by=product-id`);
      const note = page.getByText(`The first 200 of ${productCount} products are listed.`);
      const more = page.getByRole('button', { name: 'Show 50 more' });
      await more.waitFor();
      await page.emulateMedia({ media: 'print' });
      await expect.poll(async () => [await note.isVisible(), await more.isVisible()]).toEqual([true, false]);
      await page.emulateMedia({ media: 'screen' });
      await more.click();
      await expect.poll(() => page.locator('.counts tbody tr').count()).toBe(productCount);
      await note.waitFor({ state: 'detached' });
    });
  });
});
