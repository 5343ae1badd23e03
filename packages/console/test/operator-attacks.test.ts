import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, type SharedBrowser, shareChromium } from '../../../test/support/chromium.ts';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import { operatorScopes } from '../../contract/oauth/grant.ts';
import { generateOperatorToken, hashOperatorToken } from '../../service/auth/verify/authorize-operator.ts';
import { insertOperatorToken } from '../../service/storage/tables/operator-token.ts';

const script = '"><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

describe.skipIf(!hasChromium)("attacks on the operator's console", () => {
  let service: TestService;
  let management: string;
  let browser: SharedBrowser;

  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    await service.createTenant('acme');
    browser = await shareChromium();
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test('HTML in the name of an operator is text on every page', async () => {
    const token = generateOperatorToken();
    const row = { id: 'hostile', name: `Op${script}`, scopes: [...operatorScopes], createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(token));
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${management}/console/`);
    await page.getByLabel(/token/i).first().fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
    const paths = ['', 'tenants', 'tenants/acme', 'clients', 'imports', 'audit', 'operators', 'keys'];
    for (const path of paths) {
      await page.goto(`${management}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const found = await page.evaluate(() => [
        'attacked' in window,
        document.querySelectorAll('img, script:not([src]), [onerror], [href^="javascript:"]').length,
      ]);
      expect([path, ...found]).toEqual([path, false, 0]);
      if (path === 'operators') await page.getByText('Op"><img').first().waitFor();
    }
    await context.close();
  });
});
