import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, type SharedBrowser, shareChromium } from '../../../test/support/chromium.ts';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { consoleClient, type SignInProvider, startSignInProvider } from '../../../test/support/sign-in-provider.ts';
import { createExternalClient } from '../../service/auth/clients/manage-clients.ts';

// the provider is at localhost and the service at 127.0.0.1: two sites, as far as cookies matter
describe.skipIf(!hasChromium)('sign-in at an identity provider in a browser', () => {
  let provider: SignInProvider;
  let service: TestService;
  let browser: SharedBrowser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    provider = await startSignInProvider('localhost');
    service = await startService(await engines[0].openTestStore(), {
      OIDC_ISSUER: provider.url,
      OIDC_CONSOLE_CLIENT_ID: consoleClient.id,
      OIDC_CONSOLE_CLIENT_SECRET: consoleClient.secret,
    });
    await provider.serve(service.url);
    const tenant = await service.createTenant('acme');
    await createExternalClient(service.store, Math.floor(Date.now() / 1000), { tenant, clientId: 'acme-people' });
    provider.claims.ada = { subreport_client: 'acme-people' };
    browser = await shareChromium();
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
    await provider.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const signIn = async (path: string): Promise<void> => {
    await page.goto(service.url + path);
    await page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await page.waitForURL(`${provider.url}/**`);
    await page.getByLabel('Name').fill('ada');
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  test('a person signs in at the provider, returns to the same page, reloads it, and signs out at both', async () => {
    await signIn('/console/subscriptions?status=ACTIVE');
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    expect(page.url()).toBe(`${service.url}/console/subscriptions?status=ACTIVE`);
    await expect.poll(() => page.title()).toContain('acme');
    const cookies = (await context.cookies(service.url)).map(({ name, httpOnly, sameSite, expires }) => ({
      name,
      httpOnly,
      sameSite,
      expires,
    }));
    expect(cookies).toEqual([{ name: 'subreport-console', httpOnly: true, sameSite: 'Strict', expires: -1 }]);
    const kept = await page.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]),
    );
    expect(kept).not.toMatch(/[\w-]{43}|eyJ/);

    await page.reload();
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    // the response of the provider, with its code, is not an entry of the history
    await page.goBack();
    expect(page.url().startsWith(provider.url)).toBe(true);
    await page.goForward();
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'acme-people' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Use another account' }).click();
    await page.waitForURL(`${provider.url}/**`);
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.waitForURL(`${service.url}/console/`);
    await page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await page.getByLabel('Name').waitFor(); // the provider asks again
  });

  test('another site cannot sign a person in: not by a link, and not with a response of its own', async () => {
    await signIn('/console/');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // the provider still knows the person
    await context.clearCookies({ name: 'subreport-console' });
    await page.goto(`${provider.url}/interaction/x`); // a page of another site
    await page.evaluate((url) => location.assign(url), `${service.url}/console/sign-in`);
    await page.getByRole('link', { name: 'Sign in with your organization' }).waitFor();
    expect(await context.cookies(service.url)).toEqual([]);
    await page.goto(`${provider.url}/interaction/x`);
    await page.evaluate((url) => location.assign(url), `${service.url}/console/callback?code=of-somebody&state=else`);
    await page.getByRole('alert').getByText('This sign-in has expired').waitFor();
    expect(await context.cookies(service.url)).toEqual([]);
  });
});
