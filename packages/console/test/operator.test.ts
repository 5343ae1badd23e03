import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../../test/support/accessibility-faults.ts';
import { hasChromium, type SharedBrowser, shareChromium } from '../../../test/support/chromium.ts';
import { csvText } from '../../../test/support/csv-text.ts';
import { engines } from '../../../test/support/engines.ts';
import { idleMsMax } from '../../../test/support/eventually.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import type { OperatorScope } from '../../contract/oauth/grant.ts';
import { generateOperatorToken, hashOperatorToken } from '../../service/auth/verify/authorize-operator.ts';
import { syntheticRows } from '../../service/import/synthetic-rows.ts';
import { directoryStatement, type TenantId } from '../../service/storage/store.ts';
import { insertOperatorToken } from '../../service/storage/tables/operator-token.ts';
import { insertTenant } from '../../service/storage/tables/tenant.ts';

const rows = [...syntheticRows({ count: 20, seed: 7, until: 1_780_000_000 })];
const ndjson = (list: readonly object[]): Buffer => Buffer.from(list.map((row) => `${JSON.stringify(row)}\n`).join(''));
const file = (content: Buffer) => ({ name: 'rows.ndjson', mimeType: 'application/x-ndjson', buffer: content });

describe.skipIf(!hasChromium)("the operator's console", () => {
  let service: TestService;
  let origin: string;
  let token: string;
  let readToken: string;
  let browser: SharedBrowser;
  let page: Page;
  let failures: string[];
  let clientSecret: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    token = await createToken('ada', ['operator:read', 'operator:write', 'subscription:write']);
    readToken = await createToken('reader', ['operator:read']);
    browser = await shareChromium();
    page = await openPage();
    await signIn(page, token);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  afterEach(() => expect(failures).toEqual([]));

  async function createToken(name: string, scopes: readonly OperatorScope[]): Promise<string> {
    const secret = generateOperatorToken();
    const id = `op-${name.length}`;
    const times = { createdAt: 1_780_000_000, expiresAt: null };
    await insertOperatorToken(service.store, { id, name, scopes, ...times }, hashOperatorToken(secret));
    return secret;
  }

  async function openPage(): Promise<Page> {
    const opened = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    failures = [];
    opened.on('pageerror', (error) => failures.push(error.message));
    opened.on('request', (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith('blob:')) failures.push(request.url());
    });
    return opened;
  }

  async function signIn(on: Page, secret: string): Promise<void> {
    await on.goto(`${origin}/console/`);
    await on.getByLabel('Operator token').fill(secret);
    await on.getByRole('button', { name: 'Sign in' }).click();
    await on.getByRole('heading', { name: 'Health', level: 1 }).waitFor();
  }

  /** What the API says, with the token itself. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the body that it expects
  async function api(path: string): Promise<any> {
    const response = await fetch(`${origin}/operator/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    return response.json();
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const inDialog = (name: string) => dialog().getByRole('button', { name, exact: true });
  const open = (path: string) => page.goto(`${origin}/console/${path}`);

  /** Reads the secret of the dialog, which closes only after its box is ticked. */
  async function storeSecret(label: string): Promise<string> {
    const secret = await dialog().getByLabel(label, { exact: true }).inputValue();
    await page.keyboard.press('Escape');
    await expect.poll(() => inDialog('Done').isDisabled()).toBe(true);
    await dialog().getByLabel('I have stored it').check();
    await inDialog('Done').click();
    await dialog().waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    return secret;
  }

  /**
   * Unfolds what cannot be undone. What loads above it moves its buttons, and a click would miss
   * them.
   */
  async function openDangerZone(): Promise<void> {
    await expect.poll(() => page.locator('[aria-busy="true"]:not(button), .skeleton').count()).toBe(0);
    await page.locator('summary', { hasText: 'Danger zone' }).click();
  }

  /** Types the name that a dialog asks for; the button is disabled before. */
  async function confirm(typed: string, label: string): Promise<void> {
    await expect.poll(() => inDialog(label).isDisabled()).toBe(true);
    await dialog().getByLabel(`Type ${typed} to confirm`).fill(typed);
    await inDialog(label).click();
    await dialog().waitFor({ state: 'detached' });
  }

  const takesToken = async (client_secret: string): Promise<number> =>
    (await service.postToken({ grant_type: 'client_credentials', client_id: 'acme-web', client_secret })).status;

  test('a wrong token is refused beside the button, and no script can read the session', async () => {
    const stranger = await openPage();
    await stranger.goto(`${origin}/console/keys`);
    await stranger.getByLabel('Operator token').fill('sro_wrong');
    await stranger.getByRole('button', { name: 'Sign in' }).click();
    await stranger.getByRole('alert').getByText('Details').click();
    await stranger.getByRole('alert').getByText('Correlation id').waitFor();
    await stranger.context().close();
    const seen = await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }));
    expect(seen).not.toMatch(/sro_|subreport-operator/);
  });

  test(
    'health has a sentence and the figures of now, and checks the store',
    async () => {
      const missing: string[] = [];
      page.on('response', (response) => response.status() === 404 && missing.push(response.url()));
      await open('');
      await page.getByRole('heading', { name: 'The service is healthy' }).waitFor();
      await page.getByText('The store was not checked yet.').waitFor();
      await page.getByText('Requests waiting').waitFor();
      await button('Check now').click();
      // it runs in a process of its own
      await page.getByText('No problem found').waitFor({ timeout: idleMsMax });
      await page.getByText('The store passed its last check').waitFor();
      expect((await api('/doctor')).ok).toBe(true);
      expect(missing).toEqual([]);
    },
    2 * idleMsMax,
  );

  test('a tenant is created, and the rule of its name is shown for a wrong one', async () => {
    await open('tenants');
    await page.getByRole('heading', { name: 'No tenants yet' }).waitFor();
    await button('Create tenant').click();
    await page.keyboard.type('Not A Name'); // the field has the focus
    await inDialog('Create tenant').click();
    const alert = dialog().getByRole('alert');
    await alert.getByText(/1 to 63/).waitFor();
    await dialog().getByLabel('Name').fill('acme');
    await inDialog('Create tenant').click();
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor();
    await expect.poll(() => page.title()).toBe('acme · Tenants · operator · subreport');
    expect((await api('/tenants/acme')).records).toBe(0);
  });

  test('a dropped file is checked first, then imported, and its rejected rows are downloaded', async () => {
    const text = csvText([...rows, { ...(rows[0] ?? expect.unreachable()), iccid: '<b>x</b>' }]);
    const dataTransfer = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], 'rows.csv', { type: 'text/csv' }));
      return transfer;
    }, text);
    await page.getByText('Drop a CSV or NDJSON file here').dispatchEvent('drop', { dataTransfer });
    await button('Check the file').click();
    await page.getByRole('heading', { name: '20 valid, 1 rejected, nothing was changed' }).waitFor();
    await page.getByRole('table', { name: 'Rejected rows' }).getByText('"<b>x</b>"').waitFor();
    expect((await api('/tenants/acme')).records).toBe(0);
    const download = page.waitForEvent('download');
    await button('Download rejected rows').click();
    const lines = await readFile(await (await download).path(), 'utf8');
    expect(JSON.parse(lines)).toMatchObject({ line: 22, errors: [{ field: 'iccid' }] });
    await button('Import 20 rows').click();
    await page.getByRole('heading', { name: '20 loaded, 1 rejected' }).waitFor();
    expect((await api('/tenants/acme')).records).toBe(20);
    await page.getByRole('region', { name: 'Imports' }).getByText('20 loaded, 1 rejected').waitFor();
  });

  test('all or nothing offers no import with a rejected row', async () => {
    await page.getByLabel('All or nothing').check();
    await button('Check the file').click();
    await page.getByText('Nothing can be loaded: 1 row would be rejected.').waitFor();
    expect(await button('Import 20 rows').count()).toBe(0);
  });

  test('a replacement with a rejected row is refused beside the button, and lists the row', async () => {
    await page.getByLabel('Replace all records').check();
    await button('Check the file').click();
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/every row must be valid.*: 1 of 21/);
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/line 22\b/i);
    await page.getByRole('region', { name: 'Imports' }).getByText('Check failed').first().waitFor();
  });

  test('a replacement says what it removes, and asks for the name of the tenant', async () => {
    await page.getByLabel('choose another one').setInputFiles(file(ndjson(rows.slice(0, 15))));
    await page.getByLabel('Replace all records').check();
    await button('Check the file').click();
    await button('Replace with 15 rows').click();
    await dialog().getByText('5 records removed, 0 added, 0 changed').waitFor();
    await confirm('acme', 'Replace with 15 rows');
    await page.getByRole('heading', { name: 'Loaded', exact: true }).waitFor();
    expect((await api('/tenants/acme')).records).toBe(15);
  });

  test('a replacement that removes all records is offered once their number is typed', async () => {
    await page.getByLabel('choose another one').setInputFiles(file(ndjson(rows.slice(15, 16))));
    await page.getByLabel('Replace all records').check();
    await button('Check the file').click();
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/removing 15 of 15 must be confirmed/);
    expect(await button('Replace with 1 row').count()).toBe(0);
    await page.getByLabel('Records to remove').fill('15');
    await button('Check the file').click();
    await button('Replace with 1 row').click();
    await dialog().getByText('15 records removed, 1 added, 0 changed').waitFor();
    await inDialog('Cancel').click();
  });

  test('records are erased by their ids, of a SIM, and of a subscriber', async () => {
    await openDangerZone();
    const erase = async (way: string, label: string, text: string, submit: string): Promise<void> => {
      await button('Erase records').click();
      await dialog().getByLabel('By', { exact: true }).selectOption(way);
      await dialog().getByRole('textbox', { name: label }).fill(text);
      await confirm('acme', submit);
    };
    await erase('ids', 'Ids of subscriptions', `${rows[0]?.id}\nunknown= ${rows[1]?.id}`, 'Erase 3 records');
    await page.getByText('2 records erased, 1 not found').waitFor();
    await erase('iccid', 'ICCID', '8944 5000 7000 0000 041', 'Erase all records of 8944500070000000041');
    await page.getByText('3 records erased').waitFor();
    await erase('email', 'Email or identifier', 'user1@example.com', 'Erase all records of user1@example.com');
    await page.getByText('6 records erased').waitFor();
    expect((await api('/tenants/acme')).records).toBe(4);
    await open('tenants');
    await page.getByRole('row', { name: /^acme 4 Loaded / }).waitFor();
    await page.getByText('1 tenant, 4 records').waitFor();
    await page.getByLabel('Search by name').fill('other');
    await page.getByRole('heading', { name: 'No tenant has this in its name' }).waitFor();
  });

  test('the history of imports is filtered, and shows one with its rejected rows', async () => {
    await open('imports?result=interrupted');
    await page.getByRole('heading', { name: 'No import matches these filters' }).waitFor();
    await open('imports');
    await page.getByLabel('Result').selectOption('Failed');
    const started = page.getByRole('table', { name: 'Imports' }).getByRole('link', { name: /UTC|20\d\d/ });
    await started.last().click();
    await page.getByText(/every row must be valid/).waitFor();
    await page.getByRole('table', { name: 'Rejected rows' }).getByText('Line 22').waitFor();
  });

  test("a client's secret is shown once and works; a rotation gives another one", async () => {
    await open('clients');
    await button('Create client').click();
    await dialog().getByLabel('Tenant').fill('acme');
    await dialog().getByLabel('Client id').fill('acme-web');
    await inDialog('Create client').click();
    const given = page.waitForEvent('download');
    await inDialog('JSON file').click();
    const handedOver = JSON.parse(await readFile(await (await given).path(), 'utf8'));
    await dialog().getByText(`subreport login --url ${service.url} --client-id acme-web`).waitFor();
    const first = await storeSecret('Client secret');
    const [client_id, tenant] = ['acme-web', 'acme'];
    expect(handedOver).toMatchObject({
      client_id,
      client_secret: first,
      tenant,
      token_url: `${service.url}/oauth2/token`,
    });
    expect(await takesToken(first)).toBe(200);
    await page.getByRole('link', { name: 'acme-web' }).click();
    await button('Rotate secret').click();
    await dialog().getByLabel('Overlap in hours').fill('0');
    await inDialog('Rotate').click();
    clientSecret = await storeSecret('Client secret');
    expect([await takesToken(first), await takesToken(clientSecret)]).toEqual([401, 200]);
    expect(service.logText()).not.toContain(clientSecret);
  });

  test('a client is edited, disabled and enabled', async () => {
    await button('Edit').click();
    await dialog().getByLabel('Requests per minute').fill('600');
    await inDialog('Save').click();
    await page.getByText('600', { exact: true }).waitFor();
    await button('Disable').click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    const edited = await api('/clients/acme-web');
    expect(edited).toMatchObject({ rate_limit_per_minute: 600, disabled_at: expect.any(String) });
    await button('Enable').click();
    await page.getByText('Enabled', { exact: true }).waitFor();
  });

  test('the audit log names a client before its id', async () => {
    await button('Edit').click();
    await dialog().getByLabel('Name').fill('The web of Acme');
    await inDialog('Save').click();
    await page.getByRole('heading', { name: 'The web of Acme', level: 1 }).waitFor();
    await open('audit?action=client.disable');
    const names = page.getByRole('cell', { name: /acme-web/ });
    const lines = async () => (await names.first().innerText()).split('\n');
    await expect.poll(lines).toEqual(['The web of Acme', 'acme-web']); // names follow the entries
    await open('clients/acme-web');
  });

  test('one session of a client is ended, then all', async () => {
    const sessions = async () => (await api('/clients/acme-web/sessions')).data.length;
    expect([await takesToken(clientSecret), await takesToken(clientSecret)]).toEqual([200, 200]);
    await page.reload();
    await page.getByRole('table', { name: 'Sessions' }).getByRole('button', { name: 'Revoke' }).first().click();
    await dialog().getByRole('heading', { name: 'Revoke the tokens of this session?' }).waitFor();
    await inDialog('Revoke tokens').click();
    await expect.poll(sessions).toBe(1);
    await dialog().waitFor({ state: 'detached' });
    await button('Revoke tokens').click();
    await inDialog('Revoke tokens').click();
    await page.getByRole('heading', { name: 'No sessions' }).waitFor();
    expect((await api('/clients/acme-web')).tokens_revoked_at).toEqual(expect.any(String));
  });

  test('a client is deleted once its id is typed', async () => {
    await openDangerZone();
    await button('Delete client').click();
    await confirm('acme-web', 'Delete for good');
    await page.getByRole('heading', { name: 'acme' }).waitFor();
    expect((await api('/clients')).data).toEqual([]);
  });

  test('keys are rotated; a compromised one once its purpose is typed', async () => {
    await open('keys');
    await button('Rotate a key').click();
    await inDialog('Rotate a key').click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('table').getByText('Next', { exact: true }).waitFor();
    await button('Rotate a key').click();
    await dialog().getByLabel('Purpose').selectOption('refresh');
    const compromised = dialog().getByLabel(/^Compromised/);
    await compromised.check();
    await confirm('refresh', 'Rotate a key');
    const { data } = await api('/keys');
    expect(data.map(({ purpose, state }: { purpose: string; state: string }) => `${purpose} ${state}`)).toEqual(
      expect.arrayContaining(['access next', 'access current', 'refresh current']),
    );
  });

  test('a token is created, shown once, and revoked once its name is typed', async () => {
    await open('operators');
    await button('Create token').click();
    await dialog().getByLabel('Name').fill('night watch');
    await dialog().getByLabel('Your own token').fill(readToken);
    await inDialog('Create token').click();
    await dialog().getByText('must be the token with which you signed in').waitFor();
    await dialog().getByLabel('Your own token').fill(token);
    await inDialog('Create token').click();
    const created = await storeSecret('Token');
    const accepted = () => fetch(`${origin}/operator/v1/keys`, { headers: { authorization: `Bearer ${created}` } });
    expect((await accepted()).status).toBe(200);
    const row = page.getByRole('row', { name: /night watch/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await confirm('night watch', 'Revoke');
    await row.getByText('Revoked').waitFor();
    expect((await accepted()).status).toBe(401);
  });

  test('who deleted a client is found without the name of the action', async () => {
    await open('audit');
    await page.getByLabel('Action').selectOption('Client deleted');
    await page.getByRole('row', { name: /acme-web/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('action')).toBe('client.delete');
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    await page.getByLabel('From, UTC').fill(hourAgo);
    await page.getByLabel('From, UTC').blur();
    await expect.poll(() => new URL(page.url()).searchParams.get('since')).toBe(`${hourAgo}:00Z`);
    await expect.poll(() => page.locator('tbody').getByRole('row').count()).toBe(1);
  });

  test('a filter in the address applies, and a wrong one is named', async () => {
    await open('audit?action=client.rotate');
    await page.getByRole('table').getByText('Secret of a client rotated').waitFor();
    await page.getByRole('button', { name: /^Show entry/ }).click(); // only one
    await page.getByText('Correlation id').waitFor();
    await page.keyboard.press('Escape');
    await open('audit?since=yesterday');
    const refusal = page.getByRole('alert').getByText(/'since'/);
    await refusal.waitFor();
  });

  test('the settings in force are listed and searched', async () => {
    await open('settings');
    await page.getByLabel('Search').fill('management_port');
    await page.getByRole('row', { name: /^MANAGEMENT_PORT / }).waitFor();
  });

  /** Words in tables and lists of properties that take two lines; long ids may. */
  const brokenWords = (): Promise<string[]> =>
    page.locator('td, dd').evaluateAll((cells) => {
      const range = document.createRange();
      const isBroken = (node: Node, { index, 0: word }: RegExpMatchArray): boolean => {
        range.setStart(node, index ?? 0);
        range.setEnd(node, (index ?? 0) + word.length);
        return range.getClientRects().length > 1;
      };
      return cells
        .filter((cell) => cell.checkVisibility())
        .flatMap((cell) => {
          const words = cell.nodeName === 'TD' ? /(?<!\S)\S{1,9}(?!\S)/g : /(?<!\S)\S{1,19}(?!\S)/g;
          const wordsOf = (node: Node) => [...(node.textContent ?? '').matchAll(words)];
          const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          const texts: Node[] = [];
          while (walker.nextNode()) texts.push(walker.currentNode);
          return texts.flatMap((node) => wordsOf(node).flatMap((match) => (isBroken(node, match) ? [match[0]] : [])));
        });
    });

  test('axe finds no fault on any page in both themes, and none is wider than 360 px', async () => {
    const { client_id: id } = await service.createClient('acme' as TenantId);
    const paths = ['', 'tenants', 'tenants/acme', 'clients', `clients/${id}`, 'imports'];
    for (const path of [...paths, 'keys', 'audit', 'operators', 'settings']) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
      const faults = [...(await accessibilityFaults(page)), ...(await brokenWords())];
      await page.emulateMedia({ colorScheme: 'dark' });
      // only colours differ
      faults.push(...(await accessibilityFaults(page, { rules: ['color-contrast'] })));
      await page.setViewportSize({ width: 360, height: 740 });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      faults.push(...(await brokenWords()));
      expect({ path, faults, width }).toEqual({ path, faults: [], width: 360 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });

  test('a narrow window has four pages in its bar, and the others in a menu', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open('settings');
    const bar = page.getByRole('navigation', { name: 'Pages' });
    await expect.poll(() => bar.getByRole('link').allInnerTexts()).toEqual(['Health', 'Tenants', 'Clients', 'Imports']);
    await bar.getByRole('button', { name: 'More pages: Settings' }).click();
    await page.getByRole('menuitemradio', { name: 'Audit log' }).click();
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
    await expect.poll(() => bar.getByRole('link').count()).toBe(8);
  });

  test('a token without a scope sees why a button is disabled, and its revocation ends the session', async () => {
    const reader = await openPage();
    await signIn(reader, readToken);
    await reader.goto(`${origin}/console/tenants/acme`);
    await reader.locator('summary', { hasText: 'Danger zone' }).click();
    const remove = reader.getByRole('button', {
      name: 'Delete tenant',
      description: 'Your token needs the scope operator:write',
    });
    await remove.waitFor();
    await expect.poll(() => remove.isDisabled()).toBe(true);
    await reader.getByText('Your token needs the scope subscription:write').waitFor();

    await page.getByRole('link', { name: 'Tokens' }).click();
    const row = page.getByRole('row', { name: /^reader/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await confirm('reader', 'Revoke');
    await reader.getByRole('link', { name: 'Keys' }).click();
    const end = reader.getByRole('dialog', { name: 'Your session has ended' });
    await end.getByText('Sign in again as reader').waitFor();
    await reader.getByText('acme').first().waitFor({ state: 'detached' });
    await end.getByLabel('Operator token').fill(readToken);
    await end.getByRole('button', { name: 'Sign in' }).click();
    await end.getByRole('alert').waitFor();
    await reader.context().close();
  });

  test('tenants are sorted by a column, searched by name, and added up', async () => {
    await insertTenant(service.store, 'globex' as TenantId, 1_780_000_000);
    await open('tenants');
    const names = () => page.getByRole('row').locator('td:first-child').allInnerTexts();
    const sortBy = (label: string) => page.getByRole('columnheader', { name: label }).getByRole('button').click();
    await page.getByText('2 tenants, 4 records').waitFor();
    await sortBy('Records');
    await expect.poll(names).toEqual(['acme', 'globex']);
    await sortBy('Records');
    await expect.poll(names).toEqual(['globex', 'acme']);
    await sortBy('Last import');
    await sortBy('Last import');
    await expect.poll(names).toEqual(['acme', 'globex']); // without an import: last in both orders
    await page.getByLabel('Search by name').fill('glo');
    await page.getByText('1 of 2 tenants, 0 records').waitFor();
    await expect.poll(names).toEqual(['globex']);
    await service.store.writeDirectory([directoryStatement('delete from tenant where id = $1', ['globex'])]);
  });

  test('a tenant is deleted once its name is typed', async () => {
    await open('tenants/acme');
    await openDangerZone();
    await button('Delete tenant').click();
    await dialog().getByText('4 records').waitFor();
    await confirm('acme', 'Delete for good');
    await page.getByRole('heading', { name: 'No tenants yet' }).waitFor();
    expect((await api('/tenants')).data).toEqual([]);
  });

  test('after sign-out the page shows nothing, and its requests are refused', async () => {
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    expect(await page.evaluate(async () => (await fetch('/console/operator/v1/tenants')).status)).toBe(401);
  });
});
