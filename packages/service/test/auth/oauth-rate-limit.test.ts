import { describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService } from '../../../../test/support/service.ts';

describe.each(drawOne(engines, import.meta.url))(
  'OAuth requests under a rate limit on $engine',
  ({ openTestStore }) => {
    test('count for their client, apart from reports, and without a known client for their address (A 2.4.1)', async () => {
      const service = await startService(await openTestStore(), { RATE_LIMIT_PER_MINUTE: '3' });
      const [tenant] = [await service.createTenant('acme')];
      const [client, other] = [await service.createClient(tenant), await service.createClient(tenant)];
      const form = { grant_type: 'client_credentials', ...client };
      const token = await service.accessToken(client);
      const body = () => new URLSearchParams({ token, ...client });
      expect((await fetch(`${service.url}/oauth2/introspect`, { method: 'POST', body: body() })).status).toBe(200);
      expect((await service.postToken(form)).headers.get('ratelimit')).toMatch(/r=0/);
      const refused = await service.postToken(form);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      await expectTokenError(refused, 'slow_down');
      expect((await service.get('/v1/subscription', token)).status).toBe(200);
      const guess = () => service.postToken({ ...form, client_secret: 'wrong' });
      for (let n = 0; n < 3; n += 1) await expectTokenError(await guess(), 'invalid_client');
      await expectTokenError(await guess(), 'slow_down');
      expect((await service.postToken({ grant_type: 'client_credentials', ...other })).status).toBe(200);
      await service.close();
    });
  },
);
