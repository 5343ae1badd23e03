import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { servicesOnEngines, type TestService } from '../../../../test/support/service.ts';
import { ugly, uglyRows } from '../../../../test/support/ugly-rows.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { listSubscriptions as answerQuery } from '../../report/list-subscriptions.ts';
import { parseReport } from '../../report/parse.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { RangeMemory } from '../../storage/read/range-memory.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

const drawn = drawOne(engines, import.meta.url);

/** The model: rows in memory, filtered and sorted as documented. */
interface Filters {
  readonly iccid?: string;
  readonly email?: string;
  readonly 'product-id'?: string;
  readonly status?: string;
  readonly before?: number;
  readonly after?: number;
  readonly 'date-field'?: 'created' | 'activation' | 'expiration';
  readonly 'device-id'?: string;
  readonly 'plan-id'?: string;
  readonly 'auto-renew'?: string;
  readonly 'created-from'?: number;
  readonly 'created-to'?: number;
  /** Seconds. */
  readonly 'expires-within'?: number;
  readonly sort?: string;
}

/** The injected clock of these tests, which does not advance. */
const nowSeconds = 1_710_000_100;

const listSubscriptions = (context: ReportContext, tenant: TenantId, query: string) =>
  answerQuery(context, tenant, parseReport(query, context, 'json'));

const dateOf = (row: SubscriptionRow, field: string): number =>
  field.startsWith('created')
    ? row.createdDate
    : field.startsWith('activation')
      ? row.activationDate
      : row.expirationDate;

function expectedRecords(rows: readonly SubscriptionRow[], filters: Filters): string[] {
  const {
    iccid,
    email,
    status,
    before = Number.POSITIVE_INFINITY,
    after = Number.NEGATIVE_INFINITY,
    sort = 'createdDate',
  } = filters;
  const within = filters['expires-within'];
  const field = filters['date-field'] ?? 'created';
  const descending = sort.startsWith('-');
  const key = sort.replace('-', '');
  return rows
    .filter((row) => iccid === undefined || row.iccid === iccid)
    .filter((row) => email === undefined || row.email === email.toLowerCase())
    .filter((row) => filters['product-id'] === undefined || row.productId === filters['product-id'])
    .filter((row) => status === undefined || status.split(',').includes(row.status ?? 'none'))
    .filter((row) => dateOf(row, field) < before && dateOf(row, field) > after)
    .filter((row) => filters['device-id'] === undefined || row.deviceId === filters['device-id'])
    .filter((row) => filters['plan-id'] === undefined || row.planId === filters['plan-id'])
    .filter((row) => filters['auto-renew'] === undefined || row.autoRenew === filters['auto-renew'])
    .filter((row) => row.createdDate >= (filters['created-from'] ?? row.createdDate))
    .filter((row) => row.createdDate < (filters['created-to'] ?? Number.POSITIVE_INFINITY))
    .filter(
      (row) => within === undefined || (row.expirationDate > nowSeconds && row.expirationDate <= nowSeconds + within),
    )
    .sort((a, b) => (dateOf(a, key) - dateOf(b, key) || (a.id < b.id ? -1 : 1)) * (descending ? -1 : 1))
    .map((row) => row.record);
}

const dateNames: ReadonlySet<string> = new Set(['before', 'after', 'created-from', 'created-to']);

function queryOf(filters: Filters, more: Record<string, string | number> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filters, ...more })) {
    if (name === 'expires-within') query.set(name, `PT${value}S`);
    else if (typeof value === 'number' && dateNames.has(name)) query.set(name, formatInstant(value));
    else query.set(name, String(value));
  }
  return query.toString();
}

const linkOf = (
  headers: Readonly<Record<string, string>>,
  name: 'x-next-page' | 'x-previous-page',
): string | undefined => headers[name]?.split('?')[1];

/**
 * Returns the JSON of each record of a page; every record of these tests is an object with an id.
 */
const recordsOf = (body: string | Buffer): string[] =>
  (JSON.parse(String(body)) as unknown[]).map((record) => JSON.stringify(record));

/** Reads one page, as far as paging needs it. */
type ReadPage = (
  query: string,
) => Promise<{ readonly body: string | Buffer; readonly headers: Readonly<Record<string, string>> }>;

async function walkPages(
  read: ReadPage,
  first: string,
  link: 'x-next-page' | 'x-previous-page',
  betweenPages: () => Promise<void> = async () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let query: string | undefined = first; query !== undefined; ) {
    const { body, headers } = await read(query);
    pages.push(recordsOf(body));
    query = linkOf(headers, link);
    if (pages.length > 5_000) throw new Error('the walk does not end');
    await betweenPages();
  }
  return pages;
}

const walk = (
  context: ReportContext,
  tenant: TenantId,
  ...how: Parameters<typeof walkPages> extends [ReadPage, ...infer Rest] ? Rest : never
) => walkPages((query) => listSubscriptions(context, tenant, query), ...how);

/** Rows with many equal dates: 60 dates, with 20 rows each on a few. */
function tiedRows(count: number): SubscriptionRow[] {
  const statuses = ['ACTIVE', 'DEPLETED', 'EXPIRED', 'PENDING', null];
  return Array.from({ length: count }, (_, index) => {
    const mixed = (index * 7_919) % 4_001;
    return subscriptionRow({
      id: `id${String(mixed).padStart(5, '0')}${'='.repeat(index % 3)}`,
      createdDate: 1_700_000_000 + (mixed % 60),
      activationDate: 1_700_000_000 + (mixed % 7),
      expirationDate: 1_710_000_000 + (mixed % 400),
      status: statuses[mixed % 5] ?? null,
      productId: `product-${mixed % 3}`,
      planId: `plan-${mixed % 11}`,
      deviceId: `device-${mixed % 70}`,
      autoRenew: String(mixed % 6 === 0),
      iccid: `89445001${String(mixed % 50).padStart(10, '0')}`,
      email: mixed % 4 === 0 ? `user${mixed % 8}@example.com` : null,
    });
  });
}

const someFilters: readonly Filters[] = [
  {},
  { 'product-id': 'product-1' },
  { status: 'ACTIVE,DEPLETED' },
  { status: 'none' },
  { status: 'none,ACTIVE' },
  { iccid: '894450010000000007' },
  { email: 'USER4@example.com' },
  { after: 1_700_000_010, before: 1_700_000_020 },
  { 'product-id': 'product-2', status: 'EXPIRED', after: 1_700_000_002, sort: '-createdDate' },
  { 'device-id': 'device-7' },
  { 'plan-id': 'plan-3', status: 'none,EXPIRED', sort: '-createdDate' },
  { 'auto-renew': 'true', 'expires-within': 60, sort: 'expirationDate' },
  { 'created-from': 1_700_000_010, 'created-to': 1_700_000_020, 'date-field': 'activation', after: 1_700_000_003 },
  { 'expires-within': 200, 'auto-renew': 'false', status: 'ACTIVE,EXPIRED' },
  { iccid: ugly.iccid },
  { iccid: ugly.iccid, status: 'ACTIVE', sort: '-expirationDate' },
  { 'device-id': ugly.deviceId, sort: 'activationDate' },
  { email: ugly.email, sort: '-createdDate' },
  { 'plan-id': ugly.sharedPlan },
  { 'plan-id': ugly.sharedPlan, 'product-id': ugly.partProduct, sort: 'expirationDate' },
  { 'plan-id': 'plan-b', status: 'none,ACTIVE', sort: '-activationDate' },
];

describe.each(drawn)('paging through a report on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let context: ReportContext;
  let store: Store;
  const rows = [...tiedRows(2_000), ...uglyRows(2_000)];
  const contextOf = (): ReportContext => ({
    store,
    ranges: new RangeMemory(),
    limits: defaultPageLimits,
    reportUrl: 'http://localhost/r',
    now: () => nowSeconds,
  });
  const tenantOf = (name: string) => addTenant(store, name);
  let tenant: TenantId;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = contextOf();
    tenant = await tenantOf('acme');
    for (let start = 0; start < rows.length; start += 1_000)
      await store.loadSubscriptions(tenant, rows.slice(start, start + 1_000));
  });
  afterAll(() => opened.close());

  test.each([1, 2])(
    'a page of %i read by cursor links to the previous and following page, if they exist',
    async (size) => {
      const own = await tenantOf(`few-${size}`);
      await store.loadSubscriptions(own, rows.slice(0, 3 * size));
      const linksOf = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
        (['x-previous-page', 'x-next-page'] as const).map((name) => headers[name]);
      const follow = (link: string | undefined) =>
        listSubscriptions(context, own, link?.split('?')[1] ?? expect.unreachable('there must be a link'));
      const first = await listSubscriptions(context, own, `size=${size}`);
      const second = await follow(linksOf(first)[1]);
      const third = await follow(linksOf(second)[1]);
      const secondAgain = await follow(linksOf(third)[0]);
      const firstAgain = await follow(linksOf(secondAgain)[0]);
      const known = [first, second, third, secondAgain, firstAgain].map((page) =>
        linksOf(page).map((link) => link !== undefined),
      );
      expect(known).toEqual([
        [false, true],
        [true, true],
        [true, false],
        [true, true],
        [false, true],
      ]);
      expect([secondAgain.body, firstAgain.body]).toEqual([second.body, first.body]);
    },
  );

  test('rel=next of Link is X-Next-Page, and rel=prev is X-Previous-Page', async () => {
    const { headers } = await listSubscriptions(context, tenant, queryOf({}, { size: 10, page: 3 }));
    const links = [...(headers.link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)];
    const relations = Object.fromEntries(links.map(([, url, relation]) => [relation, url]));
    expect(relations).toMatchObject({ next: headers['x-next-page'], prev: headers['x-previous-page'] });
    expect(headers['x-next-page']).toContain('page=4');
    expect(headers['x-previous-page']).toContain('page=2');
  });

  test('a page past the last one is an empty array, and its previous page is the last one', async () => {
    const { body, headers } = await listSubscriptions(context, tenant, queryOf({}, { size: 1_000, page: 5 }));
    expect(String(body)).toBe('[]');
    expect(headers['x-next-page']).toBeUndefined();
    expect(headers['x-previous-page']).toBe('http://localhost/r?size=1000&page=4');
    const far = await listSubscriptions(context, tenant, queryOf({}, { size: 1_000, page: 1_000_000_000 }));
    expect([String(far.body), far.headers['x-next-page'], far.headers['x-previous-page']]).toEqual([
      '[]',
      undefined,
      undefined,
    ]);
  });

  test('all pages with expires-within use the date range of the first page, even as time passes', async () => {
    let clock = nowSeconds;
    const moving = { ...context, now: () => clock };
    const filters = { 'expires-within': 100, sort: 'expirationDate' };
    const later = async (): Promise<void> => {
      clock += 10;
    };
    for (const link of ['x-next-page', 'x-previous-page'] as const) {
      const page = link === 'x-next-page' ? 1 : Math.ceil(expectedRecords(rows, filters).length / 70);
      clock = nowSeconds;
      const pages = await walk(moving, tenant, queryOf(filters, { size: 70, page }), link, later);
      const records = link === 'x-next-page' ? pages.flat() : pages.toReversed().flat();
      expect(records).toEqual(expectedRecords(rows, filters));
    }
    expect(clock).toBeGreaterThan(nowSeconds + 100);
  });

  test('pages of any filters, order and size equal the model in both directions (property)', async () => {
    const filters = fc.record(
      {
        iccid: fc.constantFrom('894450010000000007', ugly.iccid, '899999999999999'),
        email: fc.constantFrom('user0@example.com', 'User4@Example.com', ugly.email, 'nobody'),
        'product-id': fc.constantFrom('product-0', ugly.partProduct, 'none'),
        status: fc.constantFrom('ACTIVE', 'ACTIVE,EXPIRED', 'UNKNOWN'),
        after: fc.integer({ min: 1_699_999_990, max: 1_700_000_030 }),
        before: fc.integer({ min: 1_700_000_031, max: 1_700_000_070 }),
        'date-field': fc.constantFrom('created', 'activation', 'expiration'),
        'device-id': fc.constantFrom('device-0', ugly.deviceId, 'none'),
        'plan-id': fc.constantFrom('plan-0', ugly.sharedPlan, 'none'),
        'auto-renew': fc.constantFrom('true', 'false'),
        'created-from': fc.integer({ min: 1_699_999_990, max: 1_700_000_030 }),
        'created-to': fc.integer({ min: 1_700_000_031, max: 1_700_000_070 }),
        'expires-within': fc.integer({ min: 1, max: 400 }),
        sort: fc.constantFrom(
          'createdDate',
          '-createdDate',
          'activationDate',
          '-activationDate',
          'expirationDate',
          '-expirationDate',
        ),
      } as const,
      { requiredKeys: [] },
    );
    await checkProperty(
      fc.asyncProperty(filters, fc.integer({ min: 40, max: 1_000 }), async (chosen, size) => {
        const bounded = chosen.before !== undefined || chosen.after !== undefined;
        fc.pre(!(bounded && chosen['date-field'] === 'expiration' && chosen['expires-within'] !== undefined));
        const expected = expectedRecords(rows, chosen as Filters);
        const forward = await walk(context, tenant, queryOf(chosen as Filters, { size }), 'x-next-page');
        expect(forward.flat()).toEqual(expected);
        const back = await walk(
          context,
          tenant,
          queryOf(chosen as Filters, { size, page: Math.max(1, forward.length) }),
          'x-previous-page',
        );
        expect(back.reverse().flat()).toEqual(expected);
      }),
      { least: 10, most: 100 },
    );
  });

  test('during inserts, paging returns every earlier record exactly once (property)', async () => {
    let run = 0;
    await checkProperty(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat({ max: 22 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('createdDate', '-createdDate'),
        async (there, inserted, size, sort) => {
          run += 1;
          const own = await tenantOf(`run-${run}`);
          const rowAt = (date: number, id: string) => subscriptionRow({ id, createdDate: date });
          const before = there.map((date, index) => rowAt(date, `old${index}`));
          const during = inserted.map((date, index) => rowAt(date, `new${index}`));
          await store.loadSubscriptions(own, before);
          const waiting = [...during];
          const insertSome = async (): Promise<void> => {
            const some = waiting.splice(0, 2);
            if (some.length > 0) await store.loadSubscriptions(own, some);
          };
          const seen = (await walk(context, own, queryOf({ sort }, { size }), 'x-next-page', insertSome)).flat();
          expect(new Set(seen).size).toBe(seen.length);
          const missed = before.map((row) => row.record).filter((record) => !seen.includes(record));
          expect(missed).toEqual([]);
          const known = expectedRecords([...before, ...during], { sort });
          // in order, and only inserted records
          expect(seen).toEqual(known.filter((record) => seen.includes(record)));
        },
      ),
      { least: 10, most: 40 },
    );
  });
});

describe.each(servicesOnEngines)('paging over HTTP, $service on $engine', (variant) => {
  const { engine, openTestStore, processes, start } = variant;
  const rows = tiedRows(4_000);
  let service: TestService;
  let tenant: TenantId;
  let read: ReadPage;

  beforeAll(async () => {
    service = await start(await openTestStore());
    tenant = await service.createTenant('acme');
    const token = await service.accessToken(await service.createClient(tenant));
    read = async (query) => {
      const response = await service.get(`/v1/subscription?${query}`, token);
      expect(response.status).toBe(200);
      return { body: await response.text(), headers: Object.fromEntries(response.headers) };
    };
    for (let first = 0; first < rows.length; first += 1_000)
      await service.store.loadSubscriptions(tenant, rows.slice(first, first + 1_000));
  });
  afterAll(() => service.close());

  // with several processes, the same code makes the pages
  test.each(someFilters.slice(0, processes === 1 ? 7 : 2))(
    'concurrent pages forward, backward and by number equal the model: %j',
    async (filters) => {
      const expected = expectedRecords(rows, filters);
      const size = 100;
      const count = Math.ceil(expected.length / size);
      const byNumber = async () => {
        const numbers = Array.from({ length: count }, (_, index) => index + 1);
        const pages = await Promise.all(numbers.map((page) => read(queryOf(filters, { size, page }))));
        for (const { headers } of pages)
          expect(headers).toMatchObject({ 'x-total-count': String(expected.length), 'x-total-pages': String(count) });
        return pages.map(({ body }) => recordsOf(body));
      };
      const [forward, backward, numbered] = await Promise.all([
        walkPages(read, queryOf(filters, { size }), 'x-next-page'),
        walkPages(read, queryOf(filters, { size, page: count }), 'x-previous-page'),
        byNumber(),
      ]);
      expect(forward.flat()).toEqual(expected);
      expect(backward.reverse().flat()).toEqual(expected);
      expect(numbered.flat()).toEqual(expected);
    },
  );

  test('imported records appear in the following responses of every process', async () => {
    const own = await service.createTenant('growing');
    const token = await service.accessToken(await service.createClient(own));
    const readTotals = () =>
      Promise.all(
        Array.from({ length: 6 }, async () => {
          const response = await service.get('/v1/subscription', token);
          await response.arrayBuffer();
          return Number(response.headers.get('x-total-count'));
        }),
      );
    for (let total = 1; total <= 15; total += 1) {
      await service.store.loadSubscriptions(own, [subscriptionRow({ id: `grown${total}`, createdDate: total })]);
      const allSee = async () => expect(await readTotals()).toEqual(Array(6).fill(total));
      await (engine === 'sqlite' ? allSee() : eventually(allSee));
    }
  });

  test('each process of the service responded', async () => {
    const workers = () => service.log.filter(({ tenant: of }) => of === 'acme').map(({ worker }) => worker);
    await expect.poll(() => new Set(workers()).size).toBe(processes);
  });
});
