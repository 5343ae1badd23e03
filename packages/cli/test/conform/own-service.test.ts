import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { hasNginx, startNginx } from '../../../../test/support/nginx.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { importRecords } from '../../../service/import/import-records.ts';
import { checkServer } from '../../conform/conform.ts';
import { findTokenUrl } from '../../conform/find-token-url.ts';
import { Requester } from '../../conform/requester.ts';
import { accountRecords } from './records.ts';

const served = engines.flatMap((engine) => [
  { ...engine, how: 'directly', isProxied: false },
  ...(hasNginx ? [{ ...engine, how: 'behind nginx', isProxied: true }] : []),
]);

describe.each(served)('conform on our own service, on $engine, $how', ({ openTestStore, isProxied }) => {
  let service: TestService;
  let client: TestClient;
  let baseUrl: string;
  let stopProxy = async () => {};
  const check = async ({ client_id: clientId, client_secret: clientSecret }: TestClient) => {
    const tokenUrl = await findTokenUrl({ baseUrl });
    return checkServer(new Requester({ baseUrl, tokenUrl, clientId, clientSecret }, { requestsMax: 200 }));
  };

  beforeAll(async () => {
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    // the settings of docs/operators/run-behind-nginx.md
    const proxied = { PUBLIC_URL: publicUrl, TRUSTED_PROXIES: '127.0.0.1' };
    service = await startService(await openTestStore(), { ACCESS_TOKEN_SECONDS: '300', ...(isProxied && proxied) });
    baseUrl = isProxied ? `${publicUrl}/connect-api` : service.baseUrl;
    if (isProxied) stopProxy = (await startNginx(new URL(publicUrl).port, new URL(service.url).port)).stop;
    const tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    const lines = accountRecords(57).map((record) => JSON.stringify(record));
    const source = Readable.from([Buffer.from(lines.join('\n'))]);
    const onRejected = () => expect.unreachable();
    await importRecords(service.store, tenant, source, { format: 'ndjson', dryRun: false, onRejected });
  });
  afterAll(async () => {
    await stopProxy();
    await service.close();
  });

  test('passes every check, and finds what the documentation says', async () => {
    const report = await check(client);
    expect(report.checks.filter(({ result }) => result !== 'passed')).toEqual([]);
    expect(report.capabilities).toEqual({
      first_page: 1,
      default_size: 20,
      largest_size: 1000,
      larger_size: null,
      total_sent: true,
      next_page_sent: true,
      order: 'createdDate',
      after_last_page: 'empty',
      bounds: { date: 'createdDate', before_is_inclusive: false, after_is_inclusive: false },
    });
  });

  test('fails no check of an account without records', async () => {
    const report = await check(await service.createClient(await service.createTenant('empty')));
    expect(report.checks.filter(({ result }) => result === 'failed')).toEqual([]);
    expect(report.not_applicable).toBeGreaterThan(20);
  });
});
