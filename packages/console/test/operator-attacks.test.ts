import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../../../test/support/chromium.ts';
import { type BothConsoles, startBothConsoles } from '../../../test/support/operator-console.ts';
import { createExternalClient } from '../../service/auth/clients/manage-clients.ts';
import type { TenantId } from '../../service/storage/store.ts';

const script = '"><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';
/** An id has no blank. */
const hostileId = '"><script>window.attacked=1</script>';

describe.skipIf(!hasChromium)("attacks on the operator's console", () => {
  let consoles: BothConsoles;
  beforeAll(async () => {
    consoles = await startBothConsoles([]);
  });
  afterAll(() => consoles.close());

  test('HTML in the name of an operator and in the id of a client is text on every page', async () => {
    const { service, operatorUrl: management } = consoles;
    const token = await consoles.createOperator(`Op${script}`);
    await createExternalClient(service.store, 0, { tenant: 'acme' as TenantId, clientId: hostileId });
    const page = await (await consoles.browser.newContext()).newPage();
    await page.goto(`${management}/console/`);
    await page.getByLabel(/token/i).first().fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
    const client = `clients/${encodeURIComponent(hostileId)}`;
    for (const path of ['', 'tenants', 'tenants/acme', 'clients', client, 'imports', 'audit', 'operators', 'keys']) {
      await page.goto(`${management}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const found = await page.evaluate(() => [
        'attacked' in window,
        document.querySelectorAll('img, script:not([src]), [onerror], [href^="javascript:"]').length,
      ]);
      expect([path, ...found]).toEqual([path, false, 0]);
      if (path === 'operators') await page.getByText('Op"><img').first().waitFor();
      if (path === client) await page.getByRole('heading', { name: hostileId, level: 1 }).waitFor();
    }
  });
});
