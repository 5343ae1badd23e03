import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { localDate } from '../../../../test/support/zoned.ts';
import type { filterParameters } from '../../../contract/query.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import type { SubscriptionSummary } from '../../../contract/summary.ts';
import { getSubscriptionSummary, summaryKey } from '../../report/get-subscription-summary.ts';
import { parseSummary } from '../../report/parse-summary.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

const drawn = drawOne(engines, import.meta.url);

const day = 86_400;
const start = Date.parse('2023-06-01T00:00:00Z') / 1000;
const now = start + 300 * day;
const context = { limits: defaultPageLimits, now: () => now };
const statuses = ['ACTIVE', 'DEPLETED', 'EXPIRED', null];

/** Deterministic rows over `days` days, a tenth of them in the first second of a month. */
function rowsOf(count: number, days: number, seed: number, products = 5): SubscriptionRow[] {
  return Array.from({ length: count }, (_, index) => {
    const mixed = (Math.imul(index + 1, 2_654_435_761) ^ Math.imul(seed + 1, 40_503_001)) >>> 0;
    const createdDate = index % 10 === 3 ? start + 30 * day : start + (mixed % (days * day));
    const activationDate = createdDate + (mixed % 977);
    return subscriptionRow({
      id: `id${String(index).padStart(6, '0')}`,
      createdDate,
      activationDate,
      expirationDate: activationDate + (mixed % 400) * day,
      status: statuses[(mixed >>> 4) % 4] ?? null,
      productId: `product-${(mixed >>> 8) % products}`,
      planId: `plan-${(mixed >>> 12) % 3}`,
      deviceId: `device-${(mixed >>> 16) % 50}`,
      iccid: `89445001${String((mixed >>> 18) % 40).padStart(10, '0')}`,
      autoRenew: String((mixed >>> 20) % 3 === 0),
      email: (mixed >>> 24) % 2 === 0 ? null : `user${(mixed >>> 24) % 20}@example.com`,
      record: `{"n":${index}}`,
    });
  });
}

type Parameters = Readonly<Record<string, string>>;
const fields = { created: 'createdDate', activation: 'activationDate', expiration: 'expirationDate' } as const;
const fieldOf = (asked: Parameters) => fields[(asked['date-field'] ?? 'created') as keyof typeof fields];
const secondsOf = (text: string): number => Date.parse(text) / 1000;

/** What each filter matches, implemented independently. */
type Filter = Exclude<keyof typeof filterParameters, 'date-field' | 'sort' | 'zone'>;
const meanings: Readonly<Record<Filter, (row: SubscriptionRow, value: string, asked: Parameters) => boolean>> = {
  id: (row, value) => row.id === value,
  iccid: (row, value) => row.iccid === value,
  email: (row, value) => row.email === value.toLowerCase(),
  'product-id': (row, value) => row.productId === value,
  status: (row, value) => value.split(',').includes(row.status ?? 'none'),
  'device-id': (row, value) => row.deviceId === value,
  'plan-id': (row, value) => row.planId === value,
  'auto-renew': (row, value) => row.autoRenew === value,
  before: (row, value, asked) => row[fieldOf(asked)] < secondsOf(value),
  after: (row, value, asked) => row[fieldOf(asked)] > secondsOf(value),
  'created-from': (row, value) => row.createdDate >= secondsOf(value),
  'created-to': (row, value) => row.createdDate < secondsOf(value),
  'expires-within': (row, value) =>
    row.expirationDate > now && row.expirationDate <= now + Number(value.slice(0, -1)) * day,
};

/** The value of each dimension for a row. */
const dimensions: Readonly<Record<string, (row: SubscriptionRow, asked: Parameters) => string | null>> = {
  status: ({ status }) => status,
  'product-id': ({ productId }) => productId,
  'plan-id': ({ planId }) => planId,
  'auto-renew': ({ autoRenew }) => autoRenew,
  day: (row, asked) => localDate(row[fieldOf(asked)] * 1000, asked.zone),
  month: (row, asked) => localDate(row[fieldOf(asked)] * 1000, asked.zone).slice(0, 7),
};

/** The summary computed by counting row by row. */
function modelOf(rows: readonly SubscriptionRow[], asked: Parameters): SubscriptionSummary {
  const left = rows.filter((row) =>
    Object.entries(asked).every(([name, value]) => meanings[name as Filter]?.(row, value, asked) ?? true),
  );
  const by = (asked.by ?? 'status,product-id,plan-id,auto-renew').split(',').map((group) => {
    const counts = Map.groupBy(left, (row) => dimensions[group]?.(row, asked) ?? null);
    const sorted = [...counts].sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1));
    return [group, sorted.map(([value, { length }]) => ({ value, count: length }))];
  });
  const { zone } = asked;
  return { total: left.length, ...(zone !== undefined && { zone }), by: Object.fromEntries(by) };
}

const instant = (from: number, to: number) =>
  fc
    .tuple(fc.integer({ min: from, max: to }), fc.constantFrom(1, 86_400, 500))
    .map(([seconds, unit]) => `${new Date(Math.floor(seconds / unit) * unit * 1000).toISOString().slice(0, 19)}Z`);

/** Valid queries: bounds in order, no date bounded twice, days within bounds. */
const queries = fc
  .record(
    {
      id: fc.nat(60).map((n) => `id${String(n).padStart(6, '0')}`),
      iccid: fc.nat(45).map((n) => `89445001${String(n).padStart(10, '0')}`),
      email: fc.nat(25).map((n) => `User${n}@example.com`),
      'product-id': fc.nat(6).map((n) => `product-${n}`),
      status: fc.constantFrom('ACTIVE', 'ACTIVE,EXPIRED', 'DEPLETED,ACTIVE,UNKNOWN', 'UNKNOWN', 'none', 'none,ACTIVE'),
      'device-id': fc.nat(60).map((n) => `device-${n}`),
      'plan-id': fc.nat(3).map((n) => `plan-${n}`),
      'auto-renew': fc.constantFrom('true', 'false'),
      after: instant(start - day, start + 200 * day),
      before: instant(start + 201 * day, start + 364 * day),
      'date-field': fc.constantFrom('created', 'activation', 'expiration'),
      'created-from': instant(start - day, start + 150 * day),
      'created-to': instant(start + 365 * day, start + 500 * day),
      'expires-within': fc.constantFrom('1d', '30d', '366d'),
      by: fc.uniqueArray(fc.constantFrom(...Object.keys(dimensions)), { minLength: 1 }).map((names) => names.join(',')),
      zone: fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'),
      keep: fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
    },
    { requiredKeys: ['keep'] },
  )
  .map(({ keep, ...all }) => {
    // Most combinations of filters match nothing: keep a few, and those that a dimension requires.
    const kept = Object.entries(all).filter(
      ([name]) => name === 'by' || name === 'date-field' || name === 'zone' || keep.next().value === 0,
    );
    const asked = Object.fromEntries(kept) as Record<string, string>;
    if (asked['date-field'] === 'expiration' && (asked.before ?? asked.after) !== undefined)
      delete asked['expires-within'];
    if (asked.by?.includes('day')) {
      delete asked['expires-within'];
      asked.after ??= '2023-06-11T12:00:00Z';
      asked.before ??= '2024-05-01T00:00:00Z';
    }
    return asked;
  });

test('the key of a summary contains the time only with expires-within', () => {
  const keyAt = (query: string, seconds: number) =>
    JSON.stringify(summaryKey(parseSummary(query, { ...context, now: () => seconds })));
  expect(keyAt('by=status', 1)).toBe(keyAt('by=status', 2));
  expect(keyAt('expires-within=7d', 1)).not.toBe(keyAt('expires-within=7d', 2));
  expect(keyAt('by=status', 1)).not.toBe(keyAt('by=month', 1));
  expect(keyAt('by=status,month&status=B,A', 1)).toBe(keyAt('status=A,B&by=month,status', 1));
});

describe.each(drawn)('the summary on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let made = 0;
  const newTenant = async (rows: readonly SubscriptionRow[]): Promise<TenantId> => {
    made += 1;
    const tenant = await addTenant(store, `summary-${made}`);
    for (let from = 0; from < rows.length; from += 5_000)
      await store.loadSubscriptions(tenant, rows.slice(from, from + 5_000));
    return tenant;
  };
  const summaryOf = async (tenant: TenantId, asked: Parameters): Promise<SubscriptionSummary> => {
    const query = parseSummary(new URLSearchParams(asked).toString(), context);
    const { explanation: _why, ...summary } = JSON.parse((await getSubscriptionSummary(store, tenant, query)).body);
    return summary as SubscriptionSummary;
  };
  const large = rowsOf(30_000, 400, 7);
  let largeTenant: TenantId;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    await newTenant(rowsOf(3_000, 400, 1)); // rows of another tenant, which no response may contain
    largeTenant = await newTenant(large);
  });
  afterAll(() => opened.close());

  test('a summary of a large tenant equals counting row by row (property)', async () => {
    await checkProperty(
      fc.asyncProperty(queries, async (asked) => {
        expect(await summaryOf(largeTenant, asked)).toEqual(modelOf(large, asked));
      }),
      { least: 15, most: 150 },
    );
  });

  test('a summary of few or no records equals counting row by row (property)', async () => {
    await checkProperty(
      fc.asyncProperty(
        fc.nat(60),
        fc.integer({ min: 1, max: 700 }),
        fc.nat(),
        queries,
        async (count, days, seed, asked) => {
          const rows = rowsOf(count, days, seed);
          expect(await summaryOf(await newTenant(rows), asked)).toEqual(modelOf(rows, asked));
        },
      ),
      { least: 15, most: 60 },
    );
  });

  test('a product has the name in its last created record, whatever the filters, of its own tenant', async () => {
    const named = (id: string, productId: string, createdDate: number, name: string) =>
      subscriptionRow({ id, productId, createdDate, record: JSON.stringify({ product: { id: productId, name } }) });
    const others = Array.from({ length: 43 }, (_, index) => named(`o${index}`, `p${index}`, 5, `Name ${index}`));
    const tenant = await newTenant([
      ...others,
      { ...named('a', 'renamed', 20, 'New name'), status: 'EXPIRED' },
      named('b', 'renamed', 10, 'Old name'),
      named('c', 'same-second', 7, 'Before'),
      named('d', 'same-second', 7, 'After'),
    ]);
    await newTenant([named('a', 'renamed', 30, 'Name of another tenant')]);
    const namesOf = async (asked: Parameters) => {
      const { by } = await summaryOf(tenant, { by: 'product-id', ...asked });
      return new Map(by['product-id']?.map(({ value, name }) => [value, name]));
    };
    const all = await namesOf({});
    expect(all.size).toBe(45);
    expect(others.every(({ productId }, index) => all.get(productId) === `Name ${index}`)).toBe(true);
    expect([all.get('renamed'), all.get('same-second')]).toEqual(['New name', 'After']);
    for (const filter of [{ status: 'ACTIVE' }, { 'product-id': 'renamed' }, { 'created-to': '1970-01-01T00:00:15Z' }])
      expect((await namesOf(filter)).get('renamed')).toBe('New name');
    expect(await summaryOf(tenant, { by: 'plan-id' })).toEqual({
      total: 47,
      by: { 'plan-id': [{ value: 'plan-1', count: 47 }] },
    });
  });

  test('a summary by month counts dates from 1970 to 9999, each month with a record once', async () => {
    const dates = ['1970-01-01T00:00:00Z', '2024-02-29T23:59:59Z', '2024-03-01T00:00:00Z', '9999-12-31T23:59:59Z'];
    const rows = dates.map((date, index) => subscriptionRow({ id: `id${index}`, expirationDate: secondsOf(date) }));
    const tenant = await newTenant(rows);
    const { by } = await summaryOf(tenant, { by: 'month', 'date-field': 'expiration' });
    expect(by.month).toEqual(['1970-01', '2024-02', '2024-03', '9999-12'].map((value) => ({ value, count: 1 })));
    const local = await summaryOf(tenant, { by: 'month', 'date-field': 'expiration', zone: 'Asia/Tokyo' });
    const months = { '1970-01': 1, '2024-03': 2, '9999-12': 1 }; // no month of the year 10000
    expect(local.by.month).toEqual(Object.entries(months).map(([value, count]) => ({ value, count })));
  });

  test('a summary counts dates of the years 1 and 9999, and before 1970', async () => {
    const dates = [
      '0001-01-01T00:00:00Z',
      '0099-12-31T23:59:59Z',
      '1969-12-31T23:59:59Z',
      '1970-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
    ];
    const rows = dates.map((date, index) => {
      const seconds = secondsOf(date);
      return subscriptionRow({ id: `id${index}`, createdDate: seconds, expirationDate: seconds, status: null });
    });
    const tenant = await newTenant(rows);
    for (const field of ['created', 'expiration'])
      expect(await summaryOf(tenant, { by: 'month', 'date-field': field })).toEqual({
        total: 5,
        by: { month: dates.map((date) => ({ value: date.slice(0, 7), count: 1 })) },
      });
    const around = { after: '1969-12-30T00:00:00Z', before: '1970-01-02T00:00:00Z', by: 'day' };
    for (const field of ['created', 'expiration'])
      expect((await summaryOf(tenant, { ...around, 'date-field': field })).by.day).toEqual([
        { value: '1969-12-31', count: 1 },
        { value: '1970-01-01', count: 1 },
      ]);
  });

  test('a summary of many products within narrow bounds counts the records', async () => {
    const rows = rowsOf(2_000, 100, 3, 300);
    const tenant = await newTenant(rows);
    for (const asked of [
      { by: 'product-id' },
      { by: 'product-id,status', after: '2023-06-05T00:00:00Z', before: '2023-06-20T00:00:00Z' },
    ])
      expect(await summaryOf(tenant, asked)).toEqual(modelOf(rows, asked));
  });

  test('other requests run between the steps of a long count', async () => {
    let turns = 0;
    let counting = true;
    const others = (async () => {
      for (; counting; turns += 1) await setImmediate();
    })();
    const steps = Math.floor((await summaryOf(largeTenant, { 'auto-renew': 'false' })).total / 4_000);
    counting = false;
    await others;
    expect(steps).toBeGreaterThan(3);
    expect(turns).toBeGreaterThanOrEqual(steps);
  });

  test('all counts come from one snapshot during concurrent imports', async () => {
    const tenant = await newTenant(rowsOf(100, 10, 1));
    const other = opened.openAgain();
    let loading = true;
    const load = (async () => {
      for (let round = 2; round < 40; round += 1) {
        await other.loadSubscriptions(tenant, rowsOf(100 + round, 10, round));
        await setImmediate();
      }
      loading = false;
    })();
    const totals = new Set<number>();
    while (loading) {
      const { total, by } = await summaryOf(tenant, { by: 'status,product-id,plan-id,auto-renew,month' });
      totals.add(total);
      for (const counts of Object.values(by)) expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(total);
      await setImmediate();
    }
    await load;
    expect(totals.size).toBeGreaterThan(2); // otherwise nothing was loaded concurrently
  });
});
