import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { DemoService } from './demo-service.ts';
import type { Picture } from './pictures.ts';

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs in to a console, and returns what the browser keeps once the first page is loaded. */
async function signIn(browser: Browser, service: DemoService, name: Picture['console']): Promise<StorageState> {
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
async function settle(page: Page): Promise<void> {
  // on a busy machine, the network may be idle before the scripts run
  await page.locator('h1').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}

interface Visit {
  readonly colorScheme: 'light' | 'dark';
  /** The page is loaded. */
  readonly onPage: (page: Page, picture: Picture) => Promise<void>;
  /** A script of the page failed, or it did not load. */
  readonly onError: (picture: Picture, message: string) => void;
}

/** Visits the page of each picture, in a context each. */
export async function visitPictures(
  browser: Browser,
  service: DemoService,
  pictures: readonly Picture[],
  { colorScheme, onPage, onError }: Visit,
): Promise<void> {
  const sessions: { [Name in Picture['console']]?: StorageState } = {};
  for (const picture of pictures) {
    const { console: name } = picture;
    sessions[name] ??= await signIn(browser, service, name);
    const context = await browser.newContext({ colorScheme, storageState: sessions[name] });
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => onError(picture, message));
    try {
      await page.goto(service.origins[name] + picture.path);
      await settle(page);
      await onPage(page, picture);
    } catch (error) {
      onError(picture, (error as Error).message);
    }
    await context.close();
  }
}
