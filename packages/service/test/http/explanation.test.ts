import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { createClient } from '../../../client/index.ts';
import type { SubscriptionSummary } from '../../../contract/summary.ts';
import { explainPage } from '../../report/explain-nothing.ts';
import type { TenantId } from '../../storage/store.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const statuses = ['ACTIVE', 'ACTIVE', 'Été', 'none', null];
const rows = statuses.map((status, n) =>
  subscriptionRow({ id: `s${n}`, status, productId: `product-${n % 2}`, planId: n === 4 ? null : 'plan-eu' }),
);
const twins = ['8944500102198399990', '89445001021983999905'].map((iccid) =>
  subscriptionRow({ id: iccid, iccid, productId: 'product-0', planId: 'plan-eu' }),
);

const active = "No subscription of yours has the status 'ACTVE': did you mean 'ACTIVE'?";
/** What is asked, and why nothing matches. */
const explained: readonly (readonly [query: string, explanation: string | undefined])[] = [
  ['status=ACTVE', active],
  ['status=Active', "No subscription of yours has the status 'Active': did you mean 'ACTIVE'?"],
  ['status=%C3%89t%C3%A8', "No subscription of yours has the status 'Étè': did you mean 'Été'?"],
  ['status=nine', "No subscription of yours has the status 'nine': did you mean '\\none'?"],
  ['status=100%25', "No subscription of yours has the status '100%': yours have 'ACTIVE', '\\none', 'Été'."],
  [
    'status=ACTVE,Active&iccid=8944500102198304826',
    `${active} No subscription of yours has the status 'Active': did you mean 'ACTIVE'?`,
  ],
  ['product-id=product-2', "No subscription of yours has the product id 'product-2': did you mean 'product-0'?"],
  ['product-id=xyz', "No subscription of yours has the product id 'xyz'."],
  ['plan-id=plan-us', "No subscription of yours has the plan id 'plan-us': did you mean 'plan-eu'?"],
  ['status=ACTVE&product-id=xyz', `${active} No subscription of yours has the product id 'xyz'.`],
  [
    'status=xyz1,xyz2,xyz3,xyz4',
    `${['xyz1', 'xyz2', 'xyz3'].map((status) => `No subscription of yours has the status '${status}': yours have 'ACTIVE', '\\none', 'Été'. `).join('')}The same holds for 1 more.`,
  ],
  // there are such records, but none with both
  ['status=none&plan-id=plan-eu', undefined],
  ['iccid=8944500102198304827', undefined],
  ['iccid=894450010219830482', '18 digits: a SIM with 19 digits begins with these.'],
  ['iccid=89445001021983048260', '20 digits: a SIM has these without the last, the check digit.'],
  ['iccid=8944500102198304826&created-to=1960-01-01T00:00:00Z', undefined],
  ...twins.map(({ iccid }) => [`iccid=${iccid}&created-to=1960-01-01T00:00:00Z`, undefined] as const),
  ['status=ACTVE&iccid=894450010219830482', `${active} 18 digits: a SIM with 19 digits begins with these.`],
  ['status=%5Cnone&iccid=8944500102198304827', undefined],
  ['status=none&iccid=8944500102198304827', undefined],
  ['status=ACTIVE', undefined],
  ['status=ACTIVE,ACTVE', undefined],
  ['status=\\none', undefined],
];

describe.each(drawn)('a response without records on $engine', ({ openTestStore }) => {
  let service: TestService;
  let acme: TenantId;
  let credentials: TestClient;
  let token: string;
  beforeAll(async () => {
    service = await startService(await openTestStore());
    acme = await service.createTenant('acme');
    await service.store.loadSubscriptions(acme, [...rows, ...twins]);
    credentials = await service.createClient(acme);
    token = await service.accessToken(credentials);
  });
  afterAll(() => service.close());

  const decoded = ({ headers }: Response): string | undefined => {
    const header = headers.get('x-explanation');
    expect(header ?? '').toMatch(/^[\x20-\x7e]*$/);
    return header === null ? undefined : decodeURIComponent(header);
  };
  const get = async (query: string, as = token): Promise<Response> => {
    const response = await service.get(`/v1/subscription${query}`, as);
    expect(response.status).toBe(200);
    return response;
  };

  test.each(explained)('%s: %s', async (query, explanation) => {
    for (const format of ['json', 'csv', 'ndjson'])
      expect(decoded(await get(`?${query}&format=${format}`))).toBe(explanation);
    for (const format of ['csv', 'ndjson', 'parquet']) {
      const whole = await get(`?${query}&all=true&format=${format}`);
      expect(decoded(whole)).toBe(explanation);
      await whole.arrayBuffer();
    }
    const response = await get(`/summary?${query}&by=status`);
    expect(decoded(response)).toBe(explanation);
    expect(((await response.json()) as SubscriptionSummary).explanation).toBe(explanation);
  });

  test('explains itself in a search and in the client library', async () => {
    const response = await fetch(`${service.baseUrl}/v1/subscription/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ status: ['ACTVE'] }),
    });
    expect(decoded(response)).toBe(active);
    const { client_id: clientId, client_secret: clientSecret } = credentials;
    const client = createClient({ url: service.url, clientId, clientSecret });
    expect((await client.subscriptions({ status: 'Étè' }).page()).explanation).toContain("did you mean 'Été'?");
    expect((await client.subscriptions({ status: 'ACTIVE' }).page()).explanation).toBeUndefined();
    expect((await client.summary({ status: 'ACTVE' })).explanation).toBe(active);
    const report = await client.export({ status: 'ACTVE' }, { format: 'ndjson' });
    expect(report.explanation).toBe(active);
    await report.cancel();
  });

  test('no longer says so once there is such a record, and still does of the past', async () => {
    const tenant = await service.createTenant('changing');
    const own = await service.accessToken(await service.createClient(tenant));
    expect(decoded(await get('?status=ACTVE', own))).toBe('You have no subscriptions.');
    await service.store.loadSubscriptions(tenant, rows);
    const first = await get('?status=ACTVE', own);
    expect(decoded(first)).toBe(active);
    const revision = (await get('/summary?status=ACTVE', own)).headers.get('x-revision');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'late', status: 'ACTVE' })]);
    const second = await get('?status=ACTVE', own);
    expect([decoded(second), second.headers.get('x-total-count')]).toEqual([undefined, '1']);
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
    expect(decoded(await get(`/summary?status=ACTVE&as-of=${revision}`, own))).toBe(active);
    expect(decoded(await get(`?status=ACTVE&all=true&format=ndjson&as-of=${revision}`, own))).toBe(active);
    // the products and plans of today are no suggestions for the past
    for (const path of ['/summary?', '?all=true&format=ndjson&'])
      expect(decoded(await get(`${path}product-id=product-2&plan-id=plan-us&as-of=${revision}`, own))).toBe(
        "No subscription of yours has the product id 'product-2'. No subscription of yours has the plan id 'plan-us'.",
      );
  });

  test('says nothing of a page that was read before the records changed', async () => {
    const { revision = 0 } = (await findTenant(service.store, acme)) ?? {};
    const explain = (read: number) => explainPage(service.store, acme, { statuses: ['ACTVE'] }, read);
    expect(await Promise.all([revision, revision - 1].map(explain))).toEqual([active, undefined]);
  });

  test('says so if every record has a status', async () => {
    const tenant = await service.createTenant('whole');
    await service.store.loadSubscriptions(tenant, rows.slice(0, 2));
    const own = await service.accessToken(await service.createClient(tenant));
    expect(decoded(await get('?status=none', own))).toBe('Every subscription of yours has a status.');
  });

  test('names the first of equally similar plans, whatever engine stores them in whatever order', async () => {
    const tenant = await service.createTenant('plans');
    for (const planId of ['xy', 'xaz', 'xyy'])
      await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: planId, planId })]);
    const own = await service.accessToken(await service.createClient(tenant));
    const explanation = "No subscription of yours has the plan id 'xz': did you mean 'xaz'?";
    expect(decoded(await get('?plan-id=xz', own))).toBe(explanation);
  });

  test('names nothing of another tenant', async () => {
    const tenant = await service.createTenant('other');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'x', status: 'ACTVES', productId: 'zyx' })]);
    expect(decoded(await get('?status=ACTVES&product-id=zyx'))).not.toMatch(/did you mean '(ACTVES|zyx)'/);
  });
});
