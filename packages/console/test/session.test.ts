import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type ReportConsole, startReportConsole } from '../../../test/support/report-console.ts';

describe.skipIf(!hasChromium)('a session in a browser', () => {
  let reports: ReportConsole;
  let service: ReportConsole['service'];
  let client: ReportConsole['client'];
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    reports = await startReportConsole([]);
    ({ service, client } = reports);
  });
  afterAll(() => reports.close());
  beforeEach(async () => {
    context = await reports.browser.newContext();
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const fillForm = async (secret = client.client_secret): Promise<void> => {
    await page.getByLabel('Client id').fill(client.client_id);
    await page.getByLabel('Client secret').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const signIn = async (path = '/console/'): Promise<void> => {
    await page.goto(service.url + path);
    await fillForm();
    await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  };
  const signOut = async (): Promise<void> => {
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
  };
  const open = (name: string): Promise<void> =>
    page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name }).click();
  /**
   * Waits for the rows and the watch of changes: no request of the page notices the end of the
   * session, or that the service can be reached, later.
   */
  const untilResponded = async (): Promise<void> => {
    await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
    const hasWatch = () => page.evaluate(() => performance.getEntries().some(({ name }) => name.includes('/changes?')));
    await expect.poll(hasWatch).toBe(true);
  };
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  test('a wrong secret has a sentence for people, and the words of the service below Details', async () => {
    await page.goto(`${service.url}/console/`);
    await fillForm('wrong');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    await alert.getByText('This sign-in is not valid.').waitFor();
    expect(await alert.innerText()).not.toContain('Cannot authenticate');
    await alert.getByText('Details').click();
    await expect.poll(() => alert.innerText()).toMatch(/Cannot authenticate the client[\s\S]*Correlation id/);
    await expect.poll(() => page.getByLabel('Client id').inputValue()).toBe(client.client_id);
    await fillForm('pasted ');
    await alert.getByText('client_secret has U+0020 after 6 characters').waitFor();
  });

  test('a sign-in and a page change move focus to the title, and name the page in the tab', async () => {
    await signIn();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('title');
    await open('Exports');
    await heading('Exports').waitFor();
    // not by its text, which the link in the menu has too
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('title');
    await expect.poll(() => page.title()).toBe('Exports · acme · subreport');
  });

  test('a session that ends in mid-use shows a dialog over the page, which continues after sign-in', async () => {
    await signIn('/console/subscriptions');
    await untilResponded();
    await context.clearCookies();
    await open('Changes');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.isVisible()).toBe(true);
    await expect.poll(() => dialog.getByLabel('Client id').inputValue()).toBe(client.client_id);
    await dialog.getByLabel('Client secret').fill(client.client_secret);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await heading('Changes').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('signing out ends the session, and a response that arrives later draws nothing', async () => {
    await signIn();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: requested, resolve: request } = Promise.withResolvers<void>();
    await page.route('**/console/connect-api/**', async (route) => {
      request();
      await released;
      await route.continue().catch(() => undefined); // the page has aborted it
    });
    await open('Changes');
    await requested;
    await signOut();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    release();
    await page.unrouteAll({ behavior: 'wait' });
    await expect.poll(() => page.title()).toBe('Sign in · subreport');
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await (await context.request.get(`${service.url}/console/session`)).json()).toEqual({ sign_in: ['secret'] });
    await page.goBack();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('a tab notices that another tab has signed out, and that it has signed in', async () => {
    await signIn();
    const first = page;
    page = await context.newPage();
    await page.goto(`${service.url}/console/changes`);
    await heading('Changes').waitFor();
    await signOut();
    await first.getByRole('button', { name: 'Sign in' }).waitFor();
    await fillForm();
    await first.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('a failed sign-out says that the session may still exist, and can be repeated', async () => {
    await signIn();
    await page.route('**/console/session', (route) => route.abort());
    await signOut();
    const dialog = page.getByRole('dialog', { name: 'Cannot sign out' });
    await dialog.waitFor();
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('a bar says that the browser is offline, and goes away once the service responds', async () => {
    await signIn('/console/subscriptions');
    await untilResponded();
    await context.setOffline(true);
    await page.getByText('You are offline').waitFor();
    await context.setOffline(false);
    await page.getByText('You are offline').waitFor({ state: 'detached' });
  });

  test('a service that is down is noticed at the next request, and when it is back', async () => {
    await signIn();
    await page.route(/healthz|connect-api/, (route) => route.abort());
    await open('Changes');
    await page.getByText('The service does not respond').waitFor();
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.unrouteAll();
    await page.getByText('The service does not respond').waitFor({ state: 'detached' });
  });

  test('a service that is down at the start shows an error with a way to try again', async () => {
    await page.route('**/console/session', (route) => route.abort());
    await page.goto(`${service.url}/console/`);
    await page.getByRole('alert').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('? lists the keys of the page, and Esc closes the list and gives the focus back', async () => {
    await signIn();
    const theme = page.getByRole('button', { name: /^Theme/ });
    await theme.focus();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => theme.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test('the chosen theme is remembered', async () => {
    await signIn();
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Theme: Dark' }).waitFor();
    const [red = 255] = await page.evaluate(() =>
      [...getComputedStyle(document.documentElement).backgroundColor.matchAll(/[\d.]+/g)].map(Number),
    );
    expect(red).toBeLessThan(1);
  });
});
