import { expect, test } from 'vitest';
import { ProblemError } from '../../../contract/problem.ts';
import { parseLoadParameters } from './load-subscriptions.ts';

const off = { replace: false, strict: false, 'dry-run': false, 'allow-empty': false };

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
  ['', off],
  ['strict=true', { ...off, strict: true }],
  ['replace=true&allow-empty=true&dry-run=false', { ...off, replace: true, 'allow-empty': true }],
])('the query string %j of a load is read as %j', (query, flags) => {
  expect(parseLoadParameters(query)).toEqual(flags);
});

test('every fault of a load is reported at once, by parameter', () => {
  const problem = problemOf('strickt=true&replace=1&dry-run=true&dry-run=true');
  expect(problem?.code).toBe('INVALID_REQUEST_PARAMS');
  expect(problem?.faults.map(({ parameter }) => parameter)).toEqual(['strickt', 'dry-run', 'replace']);
});

test('allow-empty without replace is a fault of a load', () => {
  expect(problemOf('allow-empty=true')?.faults).toEqual([
    { parameter: 'allow-empty', value: 'true', rule: 'combined with replace=true' },
  ]);
});

test('a query string that is not percent-encoded UTF-8 cannot be read', () => {
  expect(problemOf('strict=%ff')?.code).toBe('INVALID_HTTP_MESSAGE');
});

test('a long value is shortened in the response', () => {
  expect(problemOf(`strict=${'x'.repeat(5_000)}`)?.faults[0]?.value?.length).toBeLessThanOrEqual(128);
});
