import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultPageLimits } from '../contract/report.ts';
import type { Store } from '../storage/store.ts';
import { createPageKey, needsParsing } from './list-subscriptions.ts';
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

/** What some parameters ask for, in a URL or in a body, and their query if it is valid. */
function ask(given: Readonly<Record<string, string>>, inBody: boolean): { key: string; query?: ReportQuery } {
  const { size, page, ...texts } = given;
  const numbers = { ...(size && { size: Number(size) }), ...(page && { page: Number(page) }) };
  const body = JSON.stringify({ ...texts, ...numbers });
  const asked = { text: inBody ? `search ${body}` : `?${new URLSearchParams(given)}`, accepted: 'json' } as const;
  try {
    const query = inBody
      ? parseSearch(Buffer.from(body), context, 'json')
      : parseReport(asked.text.slice(1), context, 'json');
    return { key: keyOf(asked, needsParsing(asked) ? query : undefined), query };
  } catch {
    return { key: keyOf(asked) };
  }
}

test('only requests for the same report have the same cache key, in a URL or in a body (property)', () => {
  fc.assert(
    fc.property(parameters, fc.boolean(), parameters, fc.boolean(), (one, oneInBody, other, otherInBody) => {
      const [first, second] = [ask(one, oneInBody), ask(other, otherInBody)];
      if (first.key === second.key) expect(first.query).toEqual(second.query);
      expect(ask(one, oneInBody).key).toBe(first.key);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '?all=true',
  '?size=5&%61ll=true',
  '?a%6Cl=true',
  '?al%6c=true&size=5',
  '?expires-within=7d',
  '?expires-w%69thin=7d',
  'search {"expires-within":"7d"}',
  String.raw`search {"\u0061ll":true}`,
])('%s is parsed before its page is looked for', (text) => {
  expect(needsParsing({ text, accepted: 'json' })).toBe(true);
});

test('a page is looked for without parsing, whatever the values are encoded like', () => {
  const text = '?status=ACTIVE&after=2024-01-01T00%3A00%3A00Z&size=50';
  expect(needsParsing({ text, accepted: 'json' })).toBe(false);
});

test('the cache key has the format that is accepted, and the time of the first page', () => {
  const text = '?expires-within=7d';
  const query = parseReport(text.slice(1), context, 'json');
  const keys = [
    keyOf({ text, accepted: 'json' }, query),
    keyOf({ text, accepted: 'csv' }, query),
    keyOf({ text, accepted: undefined }, query),
    keyOf({ text, accepted: 'json' }, { ...query, nowSeconds: 1 }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
