import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';

describe.skipIf(!hasChromium)("an import with rejected rows in the operator's console", () => {
  let consoles: BothConsoles;
  let page: Page;

  beforeAll(async () => {
    consoles = await startBothConsoles([]);
    await consoles.importFaultyRow();
    page = await (await consoles.browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await consoles.signInOperator(page);
  });
  afterAll(() => consoles.close());

  test('the tooltip of its time is hidden when its page is opened', async () => {
    await page.goto(`${consoles.operatorUrl}/console/imports`);
    const tooltip = page.locator('#tooltip');
    const time = page.getByRole('table').locator('a time').first();
    await time.hover();
    await tooltip.waitFor();
    await time.click();
    await page.getByRole('heading', { level: 1, name: 'Import into acme' }).waitFor();
    await tooltip.waitFor({ state: 'hidden' });
  });
});
