import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { SubscriptionHistory } from '../../../contract/history.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const row = (id: string, status: string) => subscriptionRow({ id, status });
const future = '2999-05-01T00:00:00Z';

describe.each(drawn)('the history over HTTP on $engine', ({ openTestStore }) => {
  let service: TestService;
  let acme: TenantId;
  let token: string;
  let foreign: string;
  const get = (path: string, of = token, headers: Record<string, string> = {}) =>
    service.get(`/v1/subscription${path}`, of, { 'accept-encoding': 'identity', ...headers });

  beforeAll(async () => {
    service = await startService(await openTestStore());
    acme = await service.createTenant('acme');
    const globex = await service.createTenant('globex');
    token = await service.accessToken(await service.createClient(acme));
    foreign = await service.accessToken(await service.createClient(globex));
    await service.store.loadSubscriptions(acme, [row('a', 'PENDING'), row('b', 'PENDING'), row('c', 'PENDING')]);
    await service.store.loadSubscriptions(acme, [row('a', 'ACTIVE'), row('b', 'ACTIVE')]);
    await service.store.loadSubscriptions(globex, [row('theirs', 'ACTIVE')]);
  });
  afterAll(() => service.close());

  test.each([
    [`?all=true&format=csv&as-of=${future}`, 'a past ISO 8601 date-time'],
    [`/summary?as-of=${future}`, 'a past ISO 8601 date-time'],
    [`/a?as-of=${future}`, 'a past ISO 8601 date-time'],
    [`/changes?since=${future}&before=true`, 'a past ISO 8601 date-time'],
    ['?all=true&format=ndjson&as-of=99', 'at most the present revision, 2'],
    ['/summary?as-of=99', 'at most the present revision, 2'],
    ['/a?as-of=99', 'at most the present revision, 2'],
    ['?as-of=1', "used with 'all=true' and 'format=csv', ndjson or parquet: the past has no pages"],
    ['?as-of=1&page=2&size=1', "used with 'all=true' and 'format=csv', ndjson or parquet: the past has no pages"],
    ['?all=true&format=csv&as-of=1&expires-within=7d', "use 'before' and 'after' with 'date-field=expiration'"],
    ['/summary?as-of=1&expires-within=7d', "use 'before' and 'after' with 'date-field=expiration'"],
  ])('%s is refused with 400: it must be %s', async (path, rule) => {
    const problem = await expectProblem(await get(path), 'INVALID_REQUEST_PARAMS');
    expect(problem.messages).toEqual([expect.stringContaining(rule)]);
    expect(problem.errors?.map(({ parameter }) => parameter)).toHaveLength(1);
  });

  test('the versions of a record match the contract, have an ETag, and are of its own tenant', async () => {
    const response = await get('/a/history');
    const history = (await response.json()) as SubscriptionHistory;
    expect(Check(SubscriptionHistory, history)).toBe(true);
    expect(history.versions.map(({ revision }) => revision)).toEqual([2, 1]);
    const etag = response.headers.get('etag') ?? '';
    expect((await get('/a/history', token, { 'if-none-match': etag })).status).toBe(304);
    expect((await get('/a/history', foreign, { 'if-none-match': etag })).status).toBe(404);
    await expectProblem(await get('/nobody/history'), 'NOT_FOUND');
    await expectProblem(await get('/theirs?as-of=1'), 'NOT_FOUND');
  });

  test('X-Erased-Count says how many records of an older report have been erased since, whatever the filters', async () => {
    const older = ['?all=true&format=csv', '?all=true&format=ndjson&status=ACTIVE', '/summary?status=ACTIVE'];
    const erasedOf = async (path: string) => (await get(`${path}&as-of=1`)).headers.get('x-erased-count');
    expect(await Promise.all(older.map(erasedOf))).toEqual([null, null, null]);
    await service.store.deleteSubscriptions(acme, ['b']);
    await expect.poll(() => Promise.all(older.map(erasedOf))).toEqual(['1', '1', '1']);
    expect(await (await get('?all=true&format=csv&as-of=1')).text()).not.toMatch(/^b,/m);
    expect((await get('?all=true&format=csv')).headers.get('x-erased-count')).toBeNull();
  });
});
