import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantParameters } from '../../../contract/query.ts';
import {
  defaultSort,
  formatReportState,
  isIncomplete,
  parseReportState,
  queryOf,
  type Unlinked,
  wholeReport,
  withFilters,
} from './report-state.ts';

function faultsOf(search: string): readonly { parameter: string; value: string | null; rule: string }[] {
  const parsed = parseReportState(search);
  if ('state' in parsed) throw new Error(`'${search}' was accepted`);
  return parsed.faults;
}

function stateOf(search: string, unlinked: Unlinked = {}) {
  const parsed = parseReportState(search, unlinked);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.state;
}

const link =
  'iccid=8944500102198304826&product-id=a%2Fb&status=ACTIVE,DEPLETED&before=2026-05-01T00:00:00Z&after=2026-04-01T00:00:00Z&date-field=expiration&device-id=d%201&plan-id=p&auto-renew=false&created-from=2026-04-01T00:00:00Z&created-to=2026-04-02T00:00:00Z&expires-within=7d&sort=-expirationDate&size=50&page=3&by=month&list=id';

describe('the link of a report', () => {
  test('a link without parameters is the whole report, newest first', () => {
    expect(stateOf('')).toEqual(wholeReport);
    expect(formatReportState(wholeReport)).toBe('');
  });

  test('every parameter of a link comes back unchanged', () => {
    expect(formatReportState(stateOf(`?${link}`))).toBe(link);
    expect(queryOf(stateOf(link))).toMatchObject({ status: 'ACTIVE,DEPLETED', 'device-id': 'd 1', size: 50, page: 3 });
  });

  test.each([...instantParameters])(
    'the day in %s is the instant at which it begins, and stays in the link',
    (name) => {
      const { filters, days } = stateOf(`${name}=last-month`);
      expect(filters).toEqual({ [name]: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) });
      expect(days).toEqual({ [name]: 'last-month' });
      expect(formatReportState(stateOf(`${name}=last-month`))).toBe(`${name}=last-month`);
    },
  );

  test('each fault is named with its rule and an example, all at once', () => {
    const faults = faultsOf('stats=ACTIVE&size=5&size=6&before=soon&iccid=12&page=x&sort=date&product-id=%ff');
    expect(faults.map(({ parameter }) => parameter)).toEqual([
      'product-id',
      'stats',
      'size',
      'iccid',
      'before',
      'sort',
      'page',
    ]);
    expect(faults[1]?.rule).toContain("did you mean 'status'?");
    expect(faults[3]).toEqual({
      parameter: 'iccid',
      value: '12',
      rule: '15 to 22 digits, such as 8944500102198304826',
    });
  });

  test('parameters of the API that a page has no use for are faults too', () => {
    expect(faultsOf('cursor=abc&format=csv&all=true').map(({ parameter }) => parameter)).toEqual([
      'cursor',
      'format',
      'all',
    ]);
  });

  test('an empty value is a fault, not an absent filter', () => {
    expect(faultsOf('status=&product-id=')).toHaveLength(2);
    expect(faultsOf('by=status,month')).toHaveLength(1);
  });

  test.each(['email=hidden', 'email=ada@example.com'])('%s asks for the address, which no link contains', (search) => {
    const state = stateOf(search);
    expect(state).toMatchObject({ asksForEmail: true, filters: {} });
    expect(formatReportState(state)).toBe('email=hidden');
  });

  test('an address is remembered only for links that ask for one', () => {
    expect(queryOf(stateOf('status=ACTIVE', { email: 'ada@example.com' })).email).toBeUndefined();
  });

  test('a link has the name of a list, and asks for its values', () => {
    const listed = { name: 'iccid', values: ['8944500102198304826', '8944500102198304827'] } as const;
    const state = stateOf('status=ACTIVE&list=iccid', { listed });
    expect([isIncomplete(state), queryOf(state).iccid]).toEqual([false, listed.values]);
    expect(formatReportState(state)).toBe('status=ACTIVE&list=iccid');
    for (const unlinked of [{}, { listed: { ...listed, name: 'id' as const } }]) {
      const asking = stateOf('status=ACTIVE&list=iccid', unlinked);
      expect([isIncomplete(asking), asking.asksForList, queryOf(asking).iccid]).toEqual([true, 'iccid', undefined]);
      expect(formatReportState(asking)).toBe('status=ACTIVE&list=iccid');
    }
    expect(queryOf(stateOf('status=ACTIVE', { listed })).iccid).toBeUndefined();
    expect(faultsOf('list=status')[0]?.rule).toBe('one of id, iccid, device-id');
    expect(faultsOf('list=iccid&iccid=8944500102198304826')).toMatchObject([{ parameter: 'iccid' }]);
  });

  test('a filter has one value or a list', () => {
    const listed = { name: 'device-id', values: ['a', 'b'] } as const;
    const single = stateOf('device-id=c&status=ACTIVE&page=3');
    const several = withFilters(single, { listed });
    expect(formatReportState(several)).toBe('status=ACTIVE&list=device-id');
    expect(formatReportState(withFilters(several, { status: undefined }))).toBe('list=device-id');
    expect(formatReportState(withFilters(several, { 'device-id': 'd' }))).toBe('status=ACTIVE&device-id=d');
    expect(formatReportState(withFilters(several, { listed: undefined }))).toBe('status=ACTIVE');
    expect(formatReportState(withFilters(stateOf('list=id'), { id: 'x' }))).toBe('id=x');
    expect(withFilters(stateOf('list=id'), { listed: undefined })).toEqual(wholeReport);
  });

  test('changing a filter goes back to the first page and keeps order and size', () => {
    const state = withFilters(stateOf(link), { status: undefined, iccid: '8944500102198304827' });
    expect(state).toMatchObject({ page: undefined, size: 50, sort: '-expirationDate' });
    expect(state.filters).not.toHaveProperty('status');
    expect(state.filters.iccid).toBe('8944500102198304827');
  });

  test('removing the subscriber stops asking for the address', () => {
    const state = withFilters(stateOf('email=hidden'), { email: undefined });
    expect(state).toEqual({ ...wholeReport, sort: defaultSort });
  });

  test('any link is faulty or has a state that keeps each of its filters (property)', () => {
    const names = fc.constantFrom('status', 'iccid', 'email', 'page', 'size', 'sort', 'before', 'Status', 'x', '');
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('ACTIVE', '1', '2026-05-01T00:00:00Z'));
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (pairs) => {
        const search = new URLSearchParams(pairs).toString();
        const parsed = parseReportState(search);
        if ('faults' in parsed) return;
        const kept = new Set(new URLSearchParams(formatReportState(parsed.state)).keys());
        const filtering = pairs.map(([name]) => name).filter((name) => !['sort', 'page', 'size'].includes(name));
        expect(filtering.filter((name) => !kept.has(name))).toEqual([]);
      }),
    );
  });
});
