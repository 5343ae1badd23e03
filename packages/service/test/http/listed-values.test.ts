import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { eraseRecords } from '../../import/erase-records.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/v1/subscription/search';
const statuses = ['ACTIVE', 'DEPLETED', null];
const iccidOf = (n: number): string => `89445001${String(n).padStart(11, '0')}`;
/** With what JSON, SQL and CSV escape. */
const deviceOf = (n: number): string => `d{"\\${n}'},é`;
const idOf = (n: number): string => `id_${n}=`;
/** Two records have each ICCID, and four each device. */
const rows = Array.from({ length: 240 }, (_, n) =>
  subscriptionRow({
    id: idOf(n),
    createdDate: 1_714_521_600 + ((n * 37) % 240),
    expirationDate: 1_754_521_600 + ((n * 11) % 240),
    status: statuses[n % 3] ?? null,
    iccid: iccidOf(n % 120),
    deviceId: deviceOf(n % 60),
  }),
);

type Lists = Readonly<Record<string, string | readonly string[]>>;

describe.each(drawn)('lists of a search on $engine', ({ openTestStore }) => {
  let service: TestService;
  let acme: TenantId;
  let token: string;

  beforeAll(async () => {
    service = await startService(await openTestStore());
    acme = await service.createTenant('acme');
    token = await service.accessToken(await service.createClient(acme));
    await service.store.loadSubscriptions(acme, rows);
    const globex = await service.createTenant('globex');
    await service.store.loadSubscriptions(globex, [
      subscriptionRow({ id: 'of-globex', iccid: iccidOf(999), deviceId: 'of-globex' }),
    ]);
  });
  afterAll(() => service.close());

  const post = (body: string | object) =>
    fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const search = async (body: object) => {
    const response = await post(body);
    expect([response.status, body]).toEqual([200, body]);
    const { headers } = response;
    const records = (await response.json()) as { id: string }[];
    if ('fields' in body) for (const record of records) expect(Object.keys(record)).toEqual(['id', 'iccid']);
    const ids = records.map(({ id }) => id);
    return { ids, total: Number(headers.get('x-total-count')), notFound: headers.get('x-not-found'), headers };
  };

  /** The records of single values, in the order of the report. */
  const ofSingle = async (name: string, value: string, others: string): Promise<string[]> => {
    const query = new URLSearchParams({ [name]: value, size: '1000' });
    const response = await service.get(`/v1/subscription?${query}${others}`, token);
    return ((await response.json()) as { id: string }[]).map(({ id }) => id);
  };

  test('equals the union of single questions, page by page, with exact totals (property)', async () => {
    const list = (of: (n: number) => string, most: number) =>
      fc.array(fc.nat(most).map(of), { minLength: 1, maxLength: 40 });
    const all = { id: list(idOf, 300), iccid: list(iccidOf, 150), 'device-id': list(deviceOf, 80) };
    // few records have a value of each of several lists
    const single = Object.entries(all).map(([name, values]) => fc.record({ [name]: values }));
    const values = fc.oneof(...single, fc.record(all, { requiredKeys: [] }));
    const fields = fc.constantFrom({}, { fields: ['iccid', 'id'] });
    const others = fc.constantFrom<readonly [object, string]>(
      [{}, ''],
      [{ status: ['ACTIVE'] }, '&status=ACTIVE'],
      [{ sort: '-expirationDate' }, '&sort=-expirationDate'],
      [{ 'created-to': '2024-05-01T00:02:00Z' }, '&created-to=2024-05-01T00:02:00Z'],
    );
    await fc.assert(
      fc.asyncProperty(
        values,
        others,
        fields,
        fc.constantFrom(1, 7, 1000),
        async (lists, [members, text], shown, size) => {
          const given = Object.entries(lists as Lists) as [string, string[]][];
          if (given.length === 0) return;
          let expected: string[] | undefined;
          const notFound = new URLSearchParams();
          for (const [name, list] of given) {
            const found = new Set<string>();
            const missing: number[] = [];
            for (const [at, value] of list.entries()) {
              for (const id of await ofSingle(name, value, text)) found.add(id);
              if (list.indexOf(value) === at && (await ofSingle(name, value, '')).length === 0) missing.push(at);
            }
            notFound.set(name, missing.join());
            expected = expected === undefined ? [...found] : expected.filter((id) => found.has(id));
          }
          const date = text.includes('expiration') ? 'expirationDate' : 'createdDate';
          const sign = text.includes('expiration') ? -1 : 1;
          const sorted = rows
            .filter(({ id }) => expected?.includes(id))
            .sort((a, b) => sign * (a[date] - b[date] || (a.id < b.id ? -1 : 1)))
            .map(({ id }) => id);
          const walked: string[] = [];
          for (let cursor: string | null = ''; cursor !== null; ) {
            const page = await search({ ...lists, ...members, ...shown, size, ...(cursor !== '' && { cursor }) });
            expect(page.total).toBe(sorted.length);
            expect(positionsIn(page.notFound)).toEqual(Object.fromEntries(notFound));
            walked.push(...page.ids);
            cursor = page.headers.get('x-next-cursor');
          }
          expect(walked).toEqual(sorted);
        },
      ),
      { numRuns: 25 },
    );
  });

  /** The header with each range as its numbers. */
  const positionsIn = (header: string | null): Record<string, string> =>
    Object.fromEntries(
      [...new URLSearchParams(header ?? '')].map(([name, text]) => [
        name,
        text
          .split(',')
          .flatMap((part) => {
            const [first = 0, last = first] = part.split('-').map(Number);
            return part === '' ? [] : Array.from({ length: last - first + 1 }, (_, n) => first + n);
          })
          .join(),
      ]),
    );

  test('X-Not-Found has ranges, and the first position of a repeated value; a single value has none', async () => {
    const unknown = (n: number) => iccidOf(5_000 + n);
    const iccid = [iccidOf(1), unknown(1), unknown(2), unknown(3), iccidOf(1), unknown(1), unknown(4)];
    expect(await search({ iccid, id: [idOf(1)] })).toMatchObject({ total: 1, notFound: 'id=&iccid=1-3,6' });
    expect(await search({ iccid: iccidOf(1) })).toMatchObject({ total: 2, notFound: null });
    // whatever the other filters
    expect(await search({ iccid: [iccidOf(1)], status: 'none', 'created-to': '2000-01-01T00:00:00Z' })).toMatchObject({
      total: 0,
      notFound: 'iccid=',
    });
  });

  test("another tenant's values look as unknown ones do", async () => {
    const answer = async (id: string, iccid: string, device: string) => {
      const { total, notFound } = await search({ id: [id], iccid: [iccid], 'device-id': [device] });
      return [total, notFound];
    };
    const foreign = await answer('of-globex', iccidOf(999), 'of-globex');
    expect(foreign).toEqual([0, 'id=0&iccid=0&device-id=0']);
    expect(foreign).toEqual(await answer('of-nobody', iccidOf(998), 'of-nobody'));
  });

  test('1,000 values of each filter are accepted, and equal 1,000 single ones', async () => {
    const numbers = Array.from({ length: 1_000 }, (_, n) => n);
    const lists = { id: numbers.map(idOf), iccid: numbers.map(iccidOf), 'device-id': numbers.map(deviceOf) };
    expect(await search({ ...lists, size: 1000 })).toMatchObject({
      total: 240,
      notFound: 'id=240-999&iccid=120-999&device-id=60-999',
    });
    const longest = numbers.map((n) => String(n).padStart(255, 'x').concat('=='));
    expect(await search({ id: longest })).toMatchObject({ total: 0, notFound: 'id=0-999' });
  });

  test('a whole report has the records of a list, also as of the past, with what it had not', async () => {
    const [id, other] = ['past-1', 'past-2'];
    await service.store.loadSubscriptions(acme, [subscriptionRow({ id, iccid: iccidOf(700) })]);
    const { headers } = await service.get('/v1/subscription/summary', token);
    const revision = headers.get('x-revision');
    await service.store.loadSubscriptions(acme, [
      subscriptionRow({ id, iccid: iccidOf(701) }),
      subscriptionRow({ id: other, iccid: iccidOf(701) }),
    ]);
    const exported = async (more: object) => {
      const body = { iccid: [iccidOf(700), iccidOf(701)], id: [id, other], all: true, format: 'ndjson', ...more };
      const response = await post(body);
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith('{"id"'));
      const { headers: sent } = response;
      return [lines.map((line) => JSON.parse(line).id), sent.get('x-total-count'), sent.get('x-not-found')];
    };
    expect(await exported({})).toEqual([[id, other], '2', 'id=&iccid=0']);
    expect(await exported({ 'as-of': revision })).toEqual([[id], '1', 'id=1&iccid=1']);
    await eraseRecords(service.store, acme, () => new Set([id, other]));
    expect(await exported({})).toEqual([[], '0', 'id=0-1&iccid=0-1']);
    expect(await exported({ 'as-of': revision })).toEqual([[], '0', 'id=0-1&iccid=0-1']);
    expect(await search({ id: [id, idOf(0)] })).toMatchObject({ total: 1, notFound: 'id=0' });
  });

  test('a page of a list says which values are not found, by their own order, as of now', async () => {
    const asked = { id: ['later', idOf(1)] };
    const first = await search(asked);
    expect([first.total, first.notFound]).toEqual([1, 'id=0']);
    expect((await search({ id: [idOf(1), 'later'] })).notFound).toBe('id=1');
    await service.store.loadSubscriptions(acme, [subscriptionRow({ id: 'later' })]);
    expect(await search(asked)).toMatchObject({ total: 2, notFound: 'id=' });
    await eraseRecords(service.store, acme, () => new Set(['later']));
  });

  test('X-Applied-Filters shows the number of values, and the log none of them', async () => {
    const { headers } = await search({ iccid: [iccidOf(11), iccidOf(12)], id: idOf(3) });
    expect(headers.get('x-applied-filters')).toBe('id=id_3%3D&iccid=(2%20values)&date-field=created&sort=createdDate');
    expect(service.logText()).not.toContain(iccidOf(12));
  });

  test.each<[string, unknown, string, string | null, string]>([
    ['iccid', [], 'iccid', '0 values', 'a list of 1 to 1000 values, each 15 to 22 digits, such as 8944500102198304826'],
    ['iccid', Array(1_001).fill(iccidOf(1)), 'iccid', '1001 values', 'a list of 1 to 1000 values'],
    ['iccid', [iccidOf(1), '12'], 'iccid[1]', '12', '15 to 22 digits'],
    ['iccid', [8944500102198304], 'iccid[0]', '8944500102198304', 'a JSON string'],
    ['id', ['a', '', 'b'], 'id[1]', '', '1 to 255 of the characters'],
    ['device-id', ['a\u0000b'], 'device-id[0]', 'a\u0000b', 'without control characters'],
    ['device-id', ['\udc00'], 'device-id[0]', '"\\udc00"', 'a JSON string'],
    ['device-id', { 0: 'a' }, 'device-id', '{"0":"a"}', 'a JSON string or an array'],
    ['product-id', ['a'], 'product-id', '["a"]', 'a JSON string'],
  ])('%s of %j is rejected with its rule', async (name, value, parameter, shown, rule) => {
    const { errors } = await expectProblem(await post({ [name]: value }), 'INVALID_REQUEST_PARAMS');
    expect(errors).toEqual([{ parameter, value: shown, rule: expect.stringContaining(rule) }]);
    expect(errors[0]?.rule).toContain(', such as ');
  });

  test('all problems of lists are in one response, of which 32 are listed', async () => {
    const body = { iccid: ['1', iccidOf(1), '2'], id: ['/'], size: 0 };
    const { errors } = await expectProblem(await post(body), 'INVALID_REQUEST_PARAMS');
    expect(errors.map(({ parameter }) => parameter).sort()).toEqual(['iccid[0]', 'iccid[2]', 'id[0]', 'size']);
    const many = await expectProblem(await post({ iccid: Array(1_000).fill('1') }), 'INVALID_REQUEST_PARAMS');
    expect(many.errors).toHaveLength(32);
    expect(many.messages.at(-1)).toContain('current value is 1000');
  });

  test('a URL has no lists', async () => {
    for (const query of [`iccid=${iccidOf(1)},${iccidOf(2)}`, 'id=a,b', 'id=a&id=b'])
      await expectProblem(await service.get(`/v1/subscription?${query}`, token), 'INVALID_REQUEST_PARAMS');
    const { total } = (await (await service.get(`/v1/subscription/summary?id=${idOf(5)}`, token)).json()) as {
      total: number;
    };
    expect(total).toBe(1);
  });
});
