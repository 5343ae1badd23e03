import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../../../test/support/chromium.ts';
import { engines } from '../../../test/support/engines.ts';
import { subscriptionRow } from '../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../test/support/service.ts';
import type { TenantId } from '../../service/storage/store.ts';
import type { SubscriptionRow } from '../../service/storage/subscription-row.ts';

const script = '"><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

/** A record with HTML in every string, also in those that an import would reject. */
function hostileRow(id: string, productId = `product${script}`): SubscriptionRow {
  const row = subscriptionRow({
    id,
    status: `STATUS${script}`,
    productId,
    planId: `plan${script}`,
    iccid: `8944${script}`,
    deviceId: `device${script}`,
    autoRenew: `true${script}`,
    expirationDate: Math.floor(Date.now() / 1000) + 86_400,
  });
  const record = JSON.parse(row.record) as { product: object };
  const product = { ...record.product, name: `Name${script}`, period_unit: `DAYS${script}` };
  return { ...row, record: JSON.stringify({ ...record, product }) };
}

describe.skipIf(!hasChromium)('attacks on the report console', () => {
  let service: TestService;
  let acmeTenant: TenantId;
  let acme: TestClient;
  let globex: TestClient;
  let attackers: readonly { readonly server: Server; readonly url: string }[];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let failures: string[];

  const startAttacker = async (host: string) => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another site</title>');
    }).listen(0, host);
    await once(server, 'listening');
    return { server, url: `http://${host}:${(server.address() as AddressInfo).port}/` };
  };

  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
    acmeTenant = await service.createTenant('acme');
    const globexTenant = await service.createTenant('globex');
    [acme, globex] = [await service.createClient(acmeTenant), await service.createClient(globexTenant)];
    await service.store.loadSubscriptions(acmeTenant, [
      hostileRow('acme-record'),
      hostileRow('acme-plain', 'plain-product'),
    ]);
    await service.store.loadSubscriptions(globexTenant, [subscriptionRow({ id: 'globex-record' })]);
    // the service is at 127.0.0.1: the same site at another port, and another site
    attackers = await Promise.all(['127.0.0.1', 'localhost'].map(startAttacker));
    browser = await launchChromium({ keepsPages: true });
  });
  afterAll(async () => {
    await browser.close();
    for (const { server } of attackers) server.close();
    await service.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    failures = [];
    page.on('pageerror', (error) => failures.push(error.message));
    page.on('dialog', (dialog) => failures.push(dialog.message()));
    page.on('console', (entry) => {
      if (entry.text().includes('Content Security Policy')) failures.push(entry.text());
    });
  });
  afterEach(() => context.close());

  const fillForm = async ({ client_id, client_secret }: TestClient): Promise<void> => {
    await page.getByLabel('Client id').fill(client_id);
    await page.getByLabel('Client secret').fill(client_secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: `Account: ${client_id}` }).waitFor();
  };
  const signIn = async (client: TestClient, path = '/console/'): Promise<void> => {
    await page.goto(service.url + path);
    await fillForm(client);
  };
  const signOut = async (): Promise<void> => {
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  };
  const sessionCookie = async () => (await context.cookies(service.url)).map(({ value }) => value);

  /** Everything that a page shows and keeps, as text. */
  const everything = (): Promise<string> =>
    page.evaluate(async () => {
      const databases = await indexedDB.databases();
      const cached = await caches.keys();
      const stored = { ...localStorage, ...sessionStorage };
      const values = [...document.querySelectorAll('input')].map(({ value }) => value);
      const html = document.documentElement.outerHTML;
      return JSON.stringify([document.title, html, values, stored, databases, cached, history.state, document.cookie]);
    });

  /** Notes whether the page shows a word from now on, even for a moment. */
  const watchFor = (word: string): Promise<void> =>
    page.evaluate((forbidden) => {
      const look = () => document.body.innerHTML.includes(forbidden) && Object.assign(window, { wasShown: true });
      new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
    }, word);

  const expectNoAttack = async (): Promise<void> => {
    const attacked = await page.evaluate(() => {
      const links = [...document.querySelectorAll('[href], [src], [action]')];
      const targets = links.flatMap(({ attributes }) => [...attributes].map(({ value }) => value));
      return [
        'attacked' in window,
        document.querySelectorAll('img, script:not([src]), [onerror], [style*="url"]').length,
        targets.filter((value) => /^\s*(javascript|data:text)/i.test(value)),
      ];
    });
    expect(attacked).toEqual([false, 0, []]);
    expect(failures).toEqual([]);
  };

  test('a page of another origin can neither change a session, nor read with it, nor begin one', async () => {
    await signIn(acme);
    // its own requests are not among the lines below
    await page.getByRole('table', { name: 'All by product' }).getByRole('link').nth(1).waitFor();
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    const hasWatch = () => page.evaluate(() => performance.getEntries().some(({ name }) => name.includes('/changes?')));
    await expect.poll(hasWatch).toBe(true);
    const before = await sessionCookie();
    for (const { url } of attackers) {
      await page.goto(url);
      const first = service.log.length;
      const readable = await page.evaluate(
        async ({ target, body }) => {
          const send = async (path: string, init: RequestInit): Promise<string> => {
            const options = { credentials: 'include', ...init } as const;
            return fetch(target + path, options).then(
              (response) => response.text(),
              () => '',
            );
          };
          const text = { 'content-type': 'text/plain' };
          return Promise.all([
            send('/console/session', { method: 'POST', mode: 'no-cors', headers: text, body }),
            send('/console/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
            send('/console/session', { method: 'DELETE' }),
            send('/console/session', {}),
            send('/console/connect-api/v1/subscription', {}),
            send('/console/connect-api/v1/subscription/search', {
              method: 'POST',
              mode: 'no-cors',
              headers: text,
              body,
            }),
          ]);
        },
        { target: service.url, body: JSON.stringify(globex) },
      );
      expect(readable.join('')).toBe('');
      // a form is a navigation: its response replaces the page
      await page.evaluate(
        ({ target, body }) => {
          const form = document.createElement('form');
          Object.assign(form, { method: 'post', enctype: 'text/plain', action: `${target}/console/session` });
          const field = Object.assign(document.createElement('input'), {
            name: `${body.slice(0, -1)},"x":"`,
            value: '"}',
          });
          form.append(field);
          document.body.append(form);
          form.submit();
        },
        { target: service.url, body: JSON.stringify(globex) },
      );
      await page.waitForURL(`${service.url}/console/session`);
      const lines = service.log.slice(first).filter(({ msg }) => msg === 'request');
      // the response to a preflight permits nothing: it has no header of CORS
      const requests = lines.filter(({ method }) => method !== 'OPTIONS');
      expect(requests.filter(({ status }) => Number(status) < 400)).toEqual([]);
      expect(lines.length).toBeGreaterThanOrEqual(6);
    }
    expect(await sessionCookie()).toEqual(before);
    await page.goto(`${service.url}/console/`);
    await page.getByRole('button', { name: `Account: ${acme.client_id}` }).waitFor();
  });

  test('no page of the console can be framed', async () => {
    await signIn(acme);
    for (const { url } of attackers) {
      await page.goto(url);
      await page.evaluate(
        (targets) =>
          Promise.all(
            targets.map((src) => {
              const frame = Object.assign(document.createElement('iframe'), { src });
              document.body.append(frame);
              return new Promise((resolve) => frame.addEventListener('load', resolve));
            }),
          ),
        ['/console/', '/console/subscriptions', '/console/callback', '/console/session'].map(
          (path) => service.url + path,
        ),
      );
      const shown = page.frames().slice(1);
      expect(shown).toHaveLength(4);
      for (const frame of shown) await expect.poll(() => frame.url()).toMatch(/^chrome-error:/);
    }
  });

  test('HTML in every field of a record is text on every page', async () => {
    await signIn(acme, '/console/changes'); // once this visit has ended, later changes are listed
    await page.getByText(/this is your first visit in this browser$/).waitFor();
    await page.evaluate(() => {
      for (const [key, text] of Object.entries(localStorage))
        if (key.includes('visits')) localStorage.setItem(key, text.replace(/"at":\d+/, '"at":0'));
    });
    await service.store.loadSubscriptions(acmeTenant, [hostileRow('acme-added')]);
    const pages = {
      '/console/': 'Name"><img',
      '/console/subscriptions': 'Name"><img',
      '/console/subscriptions/acme-record': `device${script}`,
      '/console/changes': 'Name"><img',
      '/console/exports': 'Exports',
    };
    for (const [path, shown] of Object.entries(pages)) {
      await page.goto(service.url + path);
      await page.getByText(shown).filter({ visible: true }).first().waitFor();
      if (path.endsWith('/acme-record'))
        for (const text of ['Command for curl', 'JSON']) await page.getByText(text, { exact: true }).click();
      await expectNoAttack();
    }
  });

  test('hostile links run nothing', async () => {
    await signIn(acme);
    const encoded = encodeURIComponent(script);
    for (const path of [
      `/console/subscriptions?status=${encoded}`,
      `/console/subscriptions?${encoded}=1`,
      '/console/subscriptions?sort=javascript:alert(1)&page=-1&size=1e9&product-id=__proto__',
      `/console/subscriptions/${encoded}`,
      '/console/subscriptions/javascript:alert(1)',
      '/console/subscriptions?iccid=%00%F0%9F%98%80&created-after=<svg/onload=alert(1)>',
      `/console/changes?since=${encoded}&kind=${encoded}&status=${encoded}`,
      `/console/exports?x=${encoded}#<img src=x onerror=alert(1)>`,
      `/console/?constructor=${encoded}`,
    ]) {
      await page.goto(service.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectNoAttack();
    }
  });

  test('after a sign-in as a client of another tenant, no Back shows anything of the first one', async () => {
    await signIn(acme, '/console/subscriptions');
    await page.locator('[data-record="acme-record"]').click();
    await page.getByText(`device${script}`).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Ends' }).getByRole('button').click();
    await page
      .getByText(/earliest end first/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.locator('a[href$="product-id=plain-product"]').click();
    await page
      .getByText(/^1 subscription, newest first, product Name/)
      .first()
      .waitFor();
    for (const name of ['Changes', 'Exports', 'Overview']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await signOut();
    expect(await everything()).not.toContain('attacked');
    await watchFor('attacked');
    await fillForm(globex);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    // the entries of the first tenant, in the same document
    const globexRow = page.locator('[data-record="globex-record"]');
    for (const [path, shown] of [
      ['/exports', page.getByRole('heading', { level: 1, name: 'Exports' })],
      ['/changes', page.getByText(/^Nothing has changed|first visit/)],
      ['/subscriptions?product-id=plain-product', page.getByText(/^0 subscriptions, .* product plain-product$/)],
      ['/', page.getByRole('link', { name: /^Subscriptions\s*1\b/ })],
      ['/subscriptions?sort=expirationDate', globexRow],
      ['/subscriptions', globexRow],
      ['/subscriptions/acme-record', page.getByText('No such subscription')],
      ['/subscriptions', globexRow],
    ] as const) {
      await page.goBack();
      expect(page.url()).toBe(`${service.url}/console${path}`);
      await shown.first().waitFor();
    }
    expect(await page.evaluate(() => 'wasShown' in window)).toBe(false);
    expect(await everything()).not.toContain('attacked');
  });

  test.each([
    ['that ended meanwhile', undefined],
    ['of another tenant that began meanwhile', 'globex'],
  ] as const)('Back from another site to a page that the browser has kept shows a session %s', async (_, next) => {
    await signIn(acme, '/console/subscriptions/acme-record');
    await page.getByText(`device${script}`).first().waitFor();
    await page.evaluate(() => {
      const send = window.fetch;
      const held = new Promise<void>((respond) => {
        // set when the first request arrives; requests wait until it is called
        window.fetch = (...request) => {
          Object.assign(window, { respond });
          return held.then(() => send(...request));
        };
      });
      Object.assign(window, { isKept: true });
    });
    await page.goto(attackers[1]?.url ?? '');
    await context.clearCookies();
    if (next !== undefined)
      await context.request.post(`${service.url}/console/session`, {
        data: globex,
        headers: { origin: service.url },
      });
    await page.goBack({ waitUntil: 'commit' }); // a page that was kept loads nothing
    await page.waitForFunction(() => 'respond' in window);
    await expect.poll(everything).not.toContain('attacked'); // before the service responds
    await page.evaluate(() => (window as typeof window & { respond: () => void }).respond());
    if (next === undefined) await page.getByRole('button', { name: 'Sign in' }).waitFor();
    else await page.locator('[data-record="globex-record"]').waitFor();
    await expect.poll(() => page.evaluate(() => 'isKept' in window)).toBe(true);
    expect(await everything()).not.toContain('attacked');
  });

  test.each(['', 'subscriptions', 'changes'])(
    'a page /console/%s follows the session of another tenant',
    async (path) => {
      await signIn(acme, `/console/${path}`);
      await page.getByRole('status').waitFor({ state: 'attached' });
      await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
      await context.request.post(`${service.url}/console/session`, { data: globex, headers: { origin: service.url } });
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.getByRole('button', { name: `Account: ${globex.client_id}` }).waitFor();
      await page
        .getByText({ '': 'Europe 1 GB', subscriptions: /^1 subscription,/, changes: /first visit/ }[path] ?? '')
        .first()
        .waitFor();
      expect(await everything()).not.toContain('attacked');
    },
  );

  test('a session that ended while its page was open leaves no record on the screen', async () => {
    await signIn(acme, '/console/subscriptions/acme-record');
    await expect.poll(everything).toContain('attacked');
    await context.clearCookies();
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await expect.poll(everything).not.toContain('attacked');
  });

  test('neither the secret nor the session is in what a script can read', async () => {
    await signIn(acme, '/console/subscriptions');
    const [cookie = 'none'] = await sessionCookie();
    const kept = await everything();
    expect(cookie).toMatch(/^[\w-]{43}$/);
    for (const secret of [cookie, acme.client_secret]) expect(kept).not.toContain(secret);
    expect(kept).not.toMatch(/eyJ[\w-]{10}/); // no token
    const addresses = await page.evaluate(() =>
      performance
        .getEntries()
        .map(({ name }) => name)
        .join(' '),
    );
    expect(addresses).not.toContain(acme.client_secret);
  });
});
