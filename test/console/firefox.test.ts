import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateOperatorToken, hashOperatorToken } from '../../src/auth/verify/authorize-operator.ts';
import { insertOperatorToken } from '../../src/storage/tables/operator-token.ts';
import { freePort } from '../../tools/free-port.ts';
import { createFilledTenant } from '../support/console-tenant.ts';
import { engines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { type FirefoxPage, hasFirefox, launchFirefox } from '../support/firefox.ts';
import { readWorkbook } from '../support/read-workbook.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';

/** Keys of WebDriver. */
const [tab, enter] = ['\uE004', '\uE007'];

describe.skipIf(!hasFirefox)('the consoles in Firefox', () => {
  let service: TestService;
  let management: string;
  let client: TestClient;
  let page: FirefoxPage;

  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    client = await createFilledTenant(service, 'acme', 60, (row, index) => ({
      ...row,
      status: index < 12 ? 'DEPLETED' : 'ACTIVE',
    }));
    page = await launchFirefox();
  });
  afterAll(async () => {
    await page.close();
    await service.close();
  });

  test('a person signs in, filters by status, and saves exactly these subscriptions as a workbook', async () => {
    await page.goto(`${service.url}/console/subscriptions`);
    await page.click({ role: 'textbox', name: 'Client id' });
    await page.type(client.client_id + tab + client.client_secret);
    await page.click({ role: 'button', name: 'Sign in' });
    await page.click({ role: 'button', name: 'Filter' });
    await page.type(`depleted${enter}`);
    await page.waitFor({ role: 'button', name: 'Status: Depleted' });
    await expect.poll(() => page.evaluate('document.querySelector("main").innerText')).toContain('12 subscriptions');
    await page.click({ role: 'button', name: 'Export' });
    await page.click('[role=menuitem]:nth-child(2)'); // Excel
    const file = await eventually(() => {
      const [name = ''] = readdirSync(page.downloads).filter((each) => each.endsWith('.xlsx'));
      const sheet = readWorkbook(readFileSync(join(page.downloads, name)));
      expect(sheet).toHaveLength(13);
      return sheet;
    });
    expect(new Set(file.slice(1).map(([, status]) => status?.value))).toEqual(new Set(['DEPLETED']));
    expect(page.failures).toEqual([]);
  });

  test('an operator signs in and sees that the service is healthy, and its tenants', async () => {
    const token = generateOperatorToken();
    const row = { id: 'op-1', name: 'ada', scopes: ['operator:read' as const], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(token));
    await page.goto(`${management}/console/`);
    await page.click({ name: 'Operator token' });
    await page.type(token);
    await page.click({ role: 'button', name: 'Sign in' });
    await page.waitFor({ role: 'heading', name: 'The service is healthy' });
    await page.click({ role: 'link', name: 'Tenants' });
    await page.waitFor({ role: 'link', name: 'acme' });
    expect(page.failures).toEqual([]);
  });
});
