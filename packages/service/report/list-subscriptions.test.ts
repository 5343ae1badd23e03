import fc from 'fast-check';
import { expect, test } from 'vitest';
import iccidForms from '../../../test/corpus/iccid-forms.json' with { type: 'json' };
import { defaultPageLimits } from '../../contract/report.ts';
import type { Store } from '../storage/store.ts';
import { createPageKey } from './list-subscriptions.ts';
import { parseReport } from './parse.ts';
import { parseSearch } from './parse-search.ts';
import type { ReportQuery } from './report-query.ts';

const limits = defaultPageLimits;
const context = { limits, now: () => 1_714_521_600 };
const keyOf = createPageKey({
  ...context,
  store: undefined as unknown as Store,
  reportUrl: 'https://reports.example/v1/subscription',
});

const words = ['a', 'a b', 'a&size=5', '1 2', '["', '\n'];
const parameters = fc.record(
  {
    'product-id': fc.constantFrom(...words),
    'device-id': fc.constantFrom(...words),
    email: fc.constantFrom('a b', 'c'),
    size: fc.constantFrom('1', '2'),
    page: fc.constantFrom('1', '2'),
    'expires-within': fc.constantFrom('7d', 'P7D'),
    sort: fc.constantFrom('createdDate', '-createdDate'),
    format: fc.constantFrom('json', 'csv'),
  },
  { requiredKeys: [] },
);

/** The query of some parameters in a URL or in a body; `undefined` if it is invalid. */
function queryOf(given: Readonly<Record<string, string>>, inBody: boolean): ReportQuery | undefined {
  try {
    if (!inBody) return parseReport(String(new URLSearchParams(given)), context, 'json');
    const { size, page, ...texts } = given;
    const numbers = { ...(size && { size: Number(size) }), ...(page && { page: Number(page) }) };
    return parseSearch(Buffer.from(JSON.stringify({ ...texts, ...numbers })), context, 'json');
  } catch {
    return undefined;
  }
}

test('queries have the same page key if and only if they are the same, in a URL or in a body (property)', () => {
  fc.assert(
    fc.property(parameters, fc.boolean(), parameters, fc.boolean(), (one, oneInBody, other, otherInBody) => {
      const [first, second] = [queryOf(one, oneInBody), queryOf(other, otherInBody)];
      if (first === undefined || second === undefined) return;
      expect(keyOf(first) === keyOf(second)).toBe(JSON.stringify(first) === JSON.stringify(second));
    }),
    { numRuns: 2_000 },
  );
});

test.each(iccidForms)('the API takes ICCIDs with $form only as digits', ({ text }) => {
  const inBody = (iccid: unknown) => () => parseSearch(Buffer.from(JSON.stringify({ iccid })), context, 'json');
  const inUrl = () => parseReport(String(new URLSearchParams({ iccid: text })), context, 'json');
  for (const parse of [inUrl, inBody(text), inBody([text])])
    if (/^\d+$/.test(text)) expect([parse().iccid].flat()).toEqual([text]);
    else expect(parse).toThrow('15 to 22 digits, such as 8944500102198304826: current value is');
});

test('the page key has the position of a cursor, and the time of its first page', () => {
  const base = parseReport('size=5', context, 'json');
  const at = (date: number, id: string, direction: 'after' | 'before') =>
    keyOf({ ...base, cursor: { direction, key: { date, id }, page: 1, query: base.fingerprint } });
  const keys = [keyOf(base), at(1, 'a', 'after'), at(1, 'a', 'before'), at(2, 'a', 'after'), at(1, 'b', 'after')];
  const expiring = { ...base, expiresWithinSeconds: 60 };
  keys.push(keyOf(expiring), keyOf({ ...expiring, nowSeconds: 1 }));
  expect(new Set(keys).size).toBe(keys.length);
});
