import { expect, test } from 'vitest';
import { ProblemError } from '../../../contract/problem.ts';
import { parseLoadParameters } from './load-subscriptions.ts';

const off = { replace: false, strict: false, 'dry-run': false };

/** Returns the problem of a query string. */
function problemOf(query: string): ProblemError | undefined {
  try {
    parseLoadParameters(query);
    return undefined;
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

test.each([
  ['', { flags: off }],
  ['strict=true', { flags: { ...off, strict: true } }],
  ['replace=true&remove=600&dry-run=false', { flags: { ...off, replace: true }, remove: 600 }],
])('the query string %j of a load is read as %j', (query, read) => {
  expect(parseLoadParameters(query)).toEqual(read);
});

test('every fault of a load is reported at once, by parameter', () => {
  const problem = problemOf('strickt=true&replace=1&dry-run=true&dry-run=true');
  expect(problem?.code).toBe('INVALID_REQUEST_PARAMS');
  expect(problem?.faults.map(({ parameter }) => parameter)).toEqual(['strickt', 'dry-run', 'replace']);
});

test('remove without replace is a fault of a load', () => {
  expect(problemOf('remove=600')?.faults).toEqual([
    { parameter: 'remove', value: '600', rule: 'combined with replace=true' },
  ]);
});

test('a query string that is not percent-encoded UTF-8 cannot be read', () => {
  expect(problemOf('strict=%ff')?.code).toBe('INVALID_HTTP_MESSAGE');
});

test('a long value is shortened in the response', () => {
  expect(problemOf(`strict=${'x'.repeat(5_000)}`)?.faults[0]?.value?.length).toBeLessThanOrEqual(128);
});

test('a mapping of columns is read, and its faults name what must hold', () => {
  const query = (mapping: string): string => `columns=${encodeURIComponent(mapping)}`;
  const mapping = { columns: { iccid: 'SIM' }, constants: { 'product.period': 30, auto_renew: false } };
  expect(parseLoadParameters(query(JSON.stringify(mapping))).columns).toEqual({
    columns: { iccid: 'SIM' },
    constants: { 'product.period': '30', auto_renew: 'false' },
  });
  for (const [text, part] of [
    ['{"columns":{"iccd":"SIM"}}', "'iccd' is none; did you mean 'iccid'?"],
    ['Saved', 'or saved'],
    [`{"columns":{"iccid":"${'x'.repeat(2_100)}"}}`, 'of at most 2048 characters'],
  ] as const)
    expect(problemOf(query(text))?.faults).toEqual([
      expect.objectContaining({ parameter: 'columns', rule: expect.stringContaining(part) }),
    ]);
});
