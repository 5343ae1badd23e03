import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SqlValue } from '../store.ts';
import { binder, type SubscriptionFilter } from '../subscription-filter.ts';
import { noRecords, type PageStart, pageSql, recordsQuery, type SubscriptionOrder } from './page-sql.ts';

const created = { dateColumn: 'created_date' } as const;
const ascending = { column: 'created_date', descending: false } as const;
const descending = { ...ascending, descending: true };
const orderKey = { date: 50, id: 'k' };
const leafAt = (skip: number) =>
  ({ kind: 'leaf', leaf: { from: { date: 1, id: 'a' }, until: { date: 9, id: 'z' }, skip, n: 100 } }) as const;

/** The text with its values in place of their placeholders. */
function textOf(filter: SubscriptionFilter, order: SubscriptionOrder, start: PageStart): string {
  const values: SqlValue[] = [];
  const sql = pageSql(filter, order, start, 10, binder(values));
  return sql.replaceAll(/\$(\d+)/g, (name, n) => (n === '1' ? name : String(values[n - 2]))).replaceAll(/\s+/g, ' ');
}

describe('the statement of a page', () => {
  test('from the first record has no other start than the bounds of the filter', () => {
    expect(textOf({ ...created, afterSeconds: 5, productId: 'p' }, ascending, { kind: 'first' })).toBe(
      'select created_date as date, id, record from subscription where tenant_id = $1 and product_id = p' +
        ' and created_date > 5 order by created_date asc, id asc limit 10',
    );
  });

  test.each([
    [ascending, false, '(created_date, id) > (50, k)'],
    [ascending, true, '(created_date, id) >= (50, k)'],
    [descending, false, '(created_date, id) < (50, k)'],
    [descending, true, '(created_date, id) <= (50, k)'],
  ])('beyond a key in the order %j, at the key itself: %s', (order, isKeyItself, condition) => {
    expect(textOf(created, order, { kind: 'beyond', orderKey, isKeyItself })).toContain(` and ${condition} order`);
  });

  test('beyond a key has the bound that ends it, and not the one before the key', () => {
    const filter = { ...created, afterSeconds: 5, beforeSeconds: 90 };
    const up = textOf(filter, ascending, { kind: 'beyond', orderKey });
    expect([up.includes('created_date < 90'), up.includes('created_date > 5')]).toEqual([true, false]);
    const down = textOf(filter, descending, { kind: 'beyond', orderKey });
    expect([down.includes('created_date < 90'), down.includes('created_date > 5')]).toEqual([false, true]);
  });

  test('keeps both bounds of a date that is not the one of the order', () => {
    const filter = { dateColumn: 'activation_date', afterSeconds: 5, beforeSeconds: 90 } as const;
    const text = textOf(filter, ascending, { kind: 'beyond', orderKey });
    expect(text).toContain('activation_date > 5 and activation_date < 90 and (created_date, id) > (50, k)');
  });

  test.each([
    [ascending, { ...created, afterSeconds: 50 }],
    [descending, { ...created, beforeSeconds: 50 }],
  ])('begins at the bound in the order %j if the key is outside of it', (order, filter) => {
    const beyond = textOf(filter, order, { kind: 'beyond', orderKey });
    expect(beyond).toBe(textOf(filter, order, { kind: 'first' }));
  });

  test('steps over the keys of the filter before it reads records', () => {
    const text = textOf({ ...created, afterSeconds: 5 }, ascending, { kind: 'step', steps: 30 });
    expect(text).toMatch(/^with begin_at as \(select date, coalesce\(id, ''\) as at_id from \(select created_date/);
    expect(text).toContain('created_date > 5 order by created_date asc, id asc limit 1 offset 30)');
    expect(text).toContain('(created_date, id) >= (select date, at_id from begin_at) order');
  });

  test.each([
    [50, 'asc', 50],
    [51, 'desc', 48],
    [0, 'asc', 0],
    [99, 'desc', 0],
  ])('steps to row %i of 100 in a leaf from its nearer end: %s, %i steps', (skip, direction, steps) => {
    for (const order of [ascending, descending])
      expect(textOf(created, order, leafAt(skip))).toContain(
        `and (created_date, id) >= (1, a) and (created_date, id) < (9, z) order by created_date ${direction}, id ${direction} limit 1 offset ${steps})`,
      );
  });

  test('ignores the bounds of the filter while it steps in a leaf, and keeps product and status', () => {
    const filter = { ...created, afterSeconds: 5, beforeSeconds: 90, productId: 'p', statuses: ['ACTIVE'] };
    const [steps = '', page = ''] = textOf(filter, ascending, leafAt(10)).split('offset 10)');
    expect(steps).toContain(
      "status in (ACTIVE) and coalesce(status, '') <> 'EXPIRED' and (created_date, id) >= (1, a)",
    );
    expect(steps).not.toContain('created_date < 90');
    expect(page).toContain('created_date < 90');
  });

  test('merges the rows of several statuses from one index range each, and limits them once', () => {
    const text = textOf({ ...created, statuses: ['ACTIVE', 'PENDING', 'ACTIVE'] }, ascending, { kind: 'first' });
    expect(text.match(/status in \((\w+)\)/g)).toEqual(['status in (ACTIVE)', 'status in (PENDING)']);
    expect(text.match(/order by created_date asc, id asc\) as/g)).toHaveLength(2);
    expect(text).toMatch(/ order by date asc, id asc limit 10$/);
  });

  test.each<[string, SubscriptionFilter, SubscriptionOrder]>([
    ['one status', { ...created, statuses: ['ACTIVE', 'ACTIVE'] }, ascending],
    ['a filter without counts', { ...created, statuses: ['ACTIVE', 'EXPIRED'], iccid: 'i' }, ascending],
    ['a status that the index leaves out', { ...created, statuses: ['ACTIVE', 'EXPIRED'] }, ascending],
    ['another date', { ...created, statuses: ['ACTIVE', 'PENDING'] }, { ...ascending, column: 'expiration_date' }],
  ])('does not merge rows of %s', (_title, filter, order) => {
    expect(textOf(filter, order, { kind: 'first' })).not.toContain('union all');
  });

  test('uses each of its values, in any combination (property)', () => {
    const filters = fc.record<SubscriptionFilter>(
      {
        dateColumn: fc.constantFrom('created_date', 'expiration_date'),
        productId: fc.constant('p'),
        statuses: fc.constantFrom(['ACTIVE'], ['ACTIVE', 'EXPIRED']),
        afterSeconds: fc.integer({ min: 0, max: 99 }),
        beforeSeconds: fc.integer({ min: 0, max: 99 }),
      },
      { requiredKeys: ['dateColumn'] },
    );
    const starts = fc.constantFrom<PageStart>(
      { kind: 'first' },
      { kind: 'beyond', orderKey },
      { kind: 'step', steps: 3 },
      leafAt(70),
    );
    fc.assert(
      fc.property(filters, fc.constantFrom(ascending, descending), starts, (filter, order, start) => {
        const values: SqlValue[] = [];
        const sql = pageSql(filter, order, start, 10, binder(values));
        const used = new Set([...sql.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
        expect([...used].sort((a, b) => a - b)).toEqual(Array.from({ length: values.length + 1 }, (_, n) => n + 1));
      }),
    );
  });
});

describe('the records of a page', () => {
  const wanted = { filter: created, start: { kind: 'first' }, limit: 10, isReversed: false, layout: 'array' } as const;
  const bytes = Buffer.from('{"x":"1 2"},{}');
  const row = { utf8_bytes: bytes as never, least_date: -6, greatest_date: 5, ids: 'a b\nc' };

  test('are bytes, with the keys of the first and the last one', () => {
    const [first, last] = [
      { date: -6, id: 'a b' },
      { date: 5, id: 'c' },
    ];
    expect(recordsQuery('sqlite', { ...wanted, order: ascending }).toRecords(row)).toEqual({
      bytes,
      count: 2,
      first,
      last,
    });
  });

  test('are counted, and have the ids of the first and the last one (property)', () => {
    const ids = fc.array(fc.stringMatching(/^[a-z0-9=_-]{1,30}$/), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(ids, (list) => {
        const query = recordsQuery('sqlite', { ...wanted, order: ascending });
        const { count, first, last } = query.toRecords({ ...row, ids: list.join('\n') });
        expect([count, first?.id, last?.id]).toEqual([list.length, list[0], list.at(-1)]);
      }),
    );
  });

  test('have their keys in the order in which they are returned', () => {
    const back = recordsQuery('sqlite', { ...wanted, order: ascending, isReversed: true }).toRecords(row);
    expect([back.first?.date, back.last?.date]).toEqual([5, -6]);
  });

  test.each([[{ ids: null }], [undefined]])('are none in the row %j', (none) => {
    expect(recordsQuery('sqlite', { ...wanted, order: ascending }).toRecords(none)).toEqual(noRecords);
  });
});
