import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../contract/operations.ts';
import { reportPaths } from '../../contract/report.ts';
import { ApiError, parseSubscription, type RequestEvent, type SubreportClient } from '../index.ts';
import { notFoundIn } from '../query.ts';
import { type ClientService, rejectionOf, startClientService } from './client-service.ts';

let shared: ClientService;
beforeAll(async () => {
  shared = await startClientService();
});
afterAll(() => shared.service.close());

const client = () => shared.clientOf();
test('iterating over a report yields every record once', async () => {
  const ids: string[] = [];
  for await (const { id } of client().subscriptions({ size: 30 })) ids.push(id);
  expect(ids.toSorted()).toEqual(shared.rows.map(({ id }) => id).toSorted());
});

test('a search yields the same records as the report, page by page', async () => {
  const query = { status: ['ACTIVE', 'DEPLETED'], size: 30, sort: '-expirationDate' } as const;
  const found = await client().search(query).toArray({ max: 250 });
  expect(found).toEqual(await client().subscriptions(query).toArray({ max: 250 }));
  expect(found.length).toBe(shared.rows.filter(({ status }) => status === 'ACTIVE' || status === 'DEPLETED').length);
});

test('an id that is the name of another operation is rejected before it is sent', async () => {
  const urls: string[] = [];
  const watched = shared.clientOf({ onRequest: ({ url }: RequestEvent) => urls.push(url) });
  const below = `${reportPaths.listSubscriptions}/`;
  const names = Object.values(operations).flatMap(({ path }) =>
    path.startsWith(below) && !path.includes('{') ? [path.slice(below.length).split('/')[0] ?? ''] : [],
  );
  expect(names).toContain('findings');
  for (const id of [...names, '', '.', '..'])
    for (const read of [watched.subscription(id), watched.history(id)])
      expect(await rejectionOf(read)).toMatchObject({
        name: 'TypeError',
        message: `Cannot get a subscription: id must be that of a record: current value is '${id}'`,
      });
  expect(urls).toEqual([]);
  for (const id of ['a/b', '../summary', '?size=1', 'a#b', '%2e%2e', 'changes='])
    expect(await rejectionOf(watched.subscription(id))).toMatchObject({ code: 'NOT_FOUND' });
});

test('an email address is sent in the body of every page', async () => {
  const { email } = shared.rows.find((row) => row.email !== undefined) ?? {};
  const urls: string[] = [];
  const watched = shared.clientOf({
    fetch: (url, init) => {
      if (String(url).includes('/v1/')) urls.push(String(url));
      return fetch(url, init);
    },
  });
  const found = await watched.subscriptions({ email, size: 1 }).toArray({ max: 250 });
  const bytes = await new Response(await watched.export({ email }, { format: 'ndjson' })).text();
  expect(bytes.trimEnd().split('\n').length).toBe(found.length);
  expect(urls.length).toBeGreaterThan(1);
  expect(urls.filter((url) => !url.endsWith('/v1/subscription/search'))).toEqual([]);
  expect(await rejectionOf(client().summary({ email } as object))).toBeInstanceOf(TypeError);
});

test('Dates, booleans and lists filter as their strings do', async () => {
  const after = new Date(1_700_000_000_000);
  const expected = shared.rows.filter(
    (row) =>
      (row.status === 'EXPIRED' || row.status === 'ACTIVE') &&
      row.auto_renew === 'true' &&
      Date.parse(row.createdDate) > after.getTime(),
  );
  const query = { status: ['EXPIRED', 'ACTIVE'], 'auto-renew': true, after } as const;
  expect(await client().subscriptions(query).total()).toBe(expected.length);
  expect(await client().search(query).total()).toBe(expected.length);
});

test('lists of ids are sent in a body, and a page names those that no record has', async () => {
  const [one, other] = shared.rows;
  const query = { iccid: ['8999999999999999999', one?.iccid ?? '', other?.iccid ?? '', '8999999999999999998'] };
  const urls: string[] = [];
  const list = shared
    .clientOf({ onRequest: ({ url }: RequestEvent) => urls.push(url) })
    .subscriptions({ ...query, id: [one?.id ?? ''] });
  const page = await list.page();
  expect(urls.filter((url) => url.includes('/v1/')).map((url) => new URL(url).pathname)).toEqual([
    '/connect-api/v1/subscription/search',
  ]);
  expect(page.records.map(({ id }) => id)).toEqual([one?.id]);
  expect(page.notFound).toEqual({ id: [], iccid: ['8999999999999999999', '8999999999999999998'] });
  expect((await client().subscriptions({ iccid: one?.iccid }).page()).notFound).toEqual({});
  const report = await client().export(query, { format: 'ndjson' });
  const total = shared.rows.filter(({ iccid }) => query.iccid.includes(iccid)).length;
  expect([report.totalCount, report.notFound]).toEqual([total, { iccid: [query.iccid[0], query.iccid[3]] }]);
  await report.cancel();
  // without type checks
  expect(await rejectionOf(client().summary(query as object))).toMatchObject({ name: 'TypeError' });
});

test.each([
  ['id=1-2,4&iccid=0', { id: ['b', 'c', 'e'], iccid: ['1'] }],
  ['id=&iccid=1-1', { id: [], iccid: [] }],
  // of another server
  ['id=3-1e9&x=0&size=0&email=0', { id: ['d', 'e'], x: [], size: [5], email: ['a@b'] }],
  ['id=x,1-', { id: [] }],
  ['id=0x1a&iccid=0x1', { id: ['b', 'd', 'e'], iccid: ['1'] }],
])('the header X-Not-Found %j names the listed values', (header, expected) => {
  const query = { id: ['a', 'b', 'c', 'd', 'e'], iccid: ['1'], size: 5, email: 'a@b' };
  expect(notFoundIn(new Headers({ 'x-not-found': header }), query)).toEqual(expected);
});

test('a page has its totals and the cursors of the previous and the following page', async () => {
  const list = client().subscriptions({ size: 100 });
  const last = await list.page(3);
  expect(last).toMatchObject({ totalCount: 250, totalPages: 3, currentPage: 3, nextCursor: undefined });
  expect(last.headers.get('x-count-per-page')).toBe('100');
  expect(last.correlationId).toBe(last.headers.get('x-correlation-id'));
  const second = await client().subscriptions({ size: 100, cursor: last.previousCursor }).page();
  expect(second).toMatchObject({ currentPage: 2, records: (await list.page(2)).records });
  const fromCursor = client().subscriptions({ size: 100, cursor: last.previousCursor });
  expect((await fromCursor.page(1)).currentPage).toBe(1);
});

test('first returns one record, or undefined if there is none', async () => {
  const [expected] = (await client().subscriptions({ size: 5 }).page()).records;
  expect(await client().subscriptions({ size: 5, page: 9 }).first()).toEqual(expected);
  expect(await client().subscriptions({ 'device-id': 'nobody' }).first()).toBeUndefined();
});

test('toArray rejects a report that is longer than max', async () => {
  expect(await client().subscriptions().toArray({ max: 250 })).toHaveLength(250);
  expect(await rejectionOf(client().subscriptions().toArray({ max: 249 }))).toMatchObject({
    name: 'RangeError',
    message: 'Cannot read the report into an array: it must have at most max = 249 records: current value is 250',
  });
});

test('parse converts dates and auto_renew; without it, records are as on the wire', async () => {
  const [wire] = (await client().subscriptions().page()).records;
  const parsed = await client().subscriptions({}, { parse: true }).first();
  expect(wire?.auto_renew).toMatch(/^(true|false)$/);
  expect(parsed).toEqual(wire && parseSubscription(wire));
  expect(parsed?.createdDate).toEqual(new Date(wire?.createdDate ?? ''));
  const renewals = await client().subscriptions({ 'auto-renew': true }, { parse: true }).page();
  const others = await client().subscriptions({ 'auto-renew': false }, { parse: true }).page();
  expect(new Set(renewals.records.map(({ auto_renew }) => auto_renew))).toEqual(new Set([true]));
  expect(new Set(others.records.map(({ auto_renew }) => auto_renew))).toEqual(new Set([false]));
  expect(await client().subscription(wire?.id ?? '', { parse: true })).toEqual(parsed);
  expect(await client().subscription(wire?.id ?? '')).toEqual(wire);
});

test('a record that does not exist is NOT_FOUND', async () => {
  expect(await rejectionOf(client().subscription('nobody-has-this'))).toMatchObject({
    name: 'ApiError',
    code: 'NOT_FOUND',
    status: 404,
  });
});

test('a summary counts by the dimensions that were requested', async () => {
  const matching = shared.rows.filter(({ auto_renew }) => auto_renew === 'true');
  const { total, by } = await client().summary({ 'auto-renew': true, by: ['month', 'status'] });
  expect(total).toBe(matching.length);
  expect(Object.keys(by)).toEqual(['status', 'month']);
  const active = matching.filter(({ status }) => status === 'ACTIVE').length;
  expect(by.status?.find(({ value }) => value === 'ACTIVE')?.count).toBe(active);
});

test('an invalid query is one ApiError with every fault', async () => {
  const error = await rejectionOf(client().subscriptions({ size: 0, before: 'yesterday' }).page());
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).problem.errors.map(({ parameter }) => parameter).toSorted()).toEqual(['before', 'size']);
});

test('null, an empty list and an invalid Date are rejected, because an ignored filter returns too much', async () => {
  for (const value of [null, '', [], new Date('yesterday')]) {
    const error = await rejectionOf(
      client()
        .subscriptions({ before: value as never })
        .page(),
    );
    expect(error).toMatchObject({ name: 'TypeError', message: expect.stringMatching(/'before': it must be a v/) });
  }
});

test('a cursor resumes a report at the first page that was not completed', async () => {
  const ids: string[] = [];
  let cursor: string | undefined;
  for await (const page of client().subscriptions({ size: 100 }).pages()) {
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.nextCursor;
    break; // the program ends after page 1
  }
  for await (const { id } of client().subscriptions({ size: 100, cursor })) ids.push(id);
  expect(ids.toSorted()).toEqual(shared.rows.map(({ id }) => id).toSorted());
});

/** The number of requests of the report that a call makes, and what it returns. */
async function counted<T>(service: ClientService, call: (client: SubreportClient) => Promise<T>) {
  const sizes: (string | null)[] = [];
  const onRequest = ({ url }: RequestEvent) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.includes('/v1/')) sizes.push(searchParams.get('size'));
  };
  const result = await call(service.clientOf({ onRequest }));
  return { sizes, result };
}

test('a report that is read page by page has pages of 1,000, and a single page has 20 records', async () => {
  const all = [
    (client: SubreportClient) => Array.fromAsync(client.subscriptions()),
    (client: SubreportClient) => client.subscriptions().toArray({ max: 250 }),
    async (client: SubreportClient) => (await Array.fromAsync(client.subscriptions().pages()))[0]?.records ?? [],
    async (client: SubreportClient) => (await Array.fromAsync(client.changes()))[0]?.changes ?? [],
  ];
  for (const read of all) {
    const { sizes, result } = await counted(shared, read);
    expect([sizes, result.length]).toEqual([['1000'], 250]);
  }
  const page = await counted(shared, (client) => client.subscriptions().page());
  expect([page.sizes, page.result.records.length]).toEqual([[null], 20]);
  const inBodies = await counted(shared, (client) => Array.fromAsync(client.search({})));
  expect([inBodies.sizes.length, inBodies.result.length]).toEqual([1, 250]);
});

test('positions among pages of the default size are continued by that size', async () => {
  const second = await client().subscriptions().page(2);
  const fromPage = await Array.fromAsync(client().subscriptions({ page: 2 }));
  expect(fromPage).toHaveLength(230);
  expect(fromPage.slice(0, 20)).toEqual(second.records);
  expect(await Array.fromAsync(client().subscriptions({ cursor: second.nextCursor }))).toHaveLength(210);
});

test('a lower limit of the service is learned from its first rejection, once', async () => {
  const limited = await startClientService({ PAGE_SIZE_MAX: '100' });
  try {
    const { sizes, result } = await counted(limited, async (client) => [
      await Array.fromAsync(client.subscriptions()),
      await client.search({}).toArray({ max: 250 }),
      (await Array.fromAsync(client.changes())).flatMap(({ changes }) => changes),
    ]);
    expect(result.map(({ length }) => length)).toEqual([250, 250, 250]);
    expect(sizes.filter((size) => size !== null)).toEqual(['1000', '100', '100', '100', '100', '100', '100']);
    const fault = await rejectionOf(Array.fromAsync(limited.clientOf().subscriptions({ size: 500 })));
    expect(fault).toMatchObject({ code: 'INVALID_REQUEST_PARAMS' });
    const other = await rejectionOf(Array.fromAsync(limited.clientOf().subscriptions({ before: 'soon' })));
    expect((other as ApiError).problem.errors.map(({ parameter }) => parameter)).toEqual(['before']);
  } finally {
    await limited.service.close();
  }
});
