import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { DemoService } from './demo-service.ts';
import type { Picture } from './picture.ts';

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs in to a console, and returns what the browser keeps once the first page is loaded. */
export async function signIn(browser: Browser, service: DemoService, name: Picture['console']): Promise<StorageState> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.origins[name]}/console/`);
  if (name === 'report') {
    await page.getByLabel('Client id').fill(service.client.client_id);
    await page.getByLabel('Client secret').fill(service.client.client_secret);
  } else await page.getByLabel('Operator token').fill(service.operatorToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  await settle(page);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Waits until nothing on the page is loading. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}
