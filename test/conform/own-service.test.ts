import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkServer } from '../../src/conform/conform.ts';
import { findTokenUrl } from '../../src/conform/find-token-url.ts';
import { Requester } from '../../src/conform/requester.ts';
import { importRecords } from '../../src/import/import-records.ts';
import { engines } from '../support/engines.ts';
import { startService, type TestClient, type TestService } from '../support/service.ts';
import { accountRecords } from './records.ts';

describe.each(engines)('conform on our own service, on $engine', ({ openTestStore }) => {
  let service: TestService;
  let client: TestClient;
  const check = async ({ client_id: clientId, client_secret: clientSecret }: TestClient) => {
    const { baseUrl } = service;
    const tokenUrl = await findTokenUrl({ baseUrl });
    return checkServer(new Requester({ baseUrl, tokenUrl, clientId, clientSecret }, { requestsMax: 200 }));
  };

  beforeAll(async () => {
    service = await startService(await openTestStore(), { ACCESS_TOKEN_SECONDS: '300' });
    const tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
    const lines = accountRecords(57).map((record) => JSON.stringify(record));
    const source = Readable.from([Buffer.from(lines.join('\n'))]);
    const onRejected = () => expect.unreachable();
    await importRecords(service.store, tenant, source, { format: 'ndjson', dryRun: false, onRejected });
  });
  afterAll(() => service.close());

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
