import { Check } from 'typebox/value';
import { expect, test } from 'vitest';
import { errorTable } from './error.ts';
import type { ErrorCode } from './error-code.ts';
import { buildProblem, faultSentence, Problem } from './problem.ts';

test.each(Object.keys(errorTable) as ErrorCode[])('%s makes a body that fits the contract', (code) => {
  const faults = [{ parameter: 'size', value: '0', rule: 'an integer from 1 to 1000, such as 20' }];
  const problem = buildProblem({ code, messages: ['Cannot do this: it must be so', 'Cannot do that'], faults }, 'id-1');
  expect(Check(Problem, problem)).toBe(true);
  expect(problem).toEqual({
    type: code,
    title: errorTable[code].title,
    status: errorTable[code].status,
    detail: 'Cannot do this: it must be so; Cannot do that',
    messages: ['Cannot do this: it must be so', 'Cannot do that'],
    errors: faults,
    correlation_id: 'id-1',
  });
});

test('a fault is a sentence that names the parameter, the rule and the value', () => {
  const fault = { parameter: 'size', value: '0', rule: 'an integer from 1 to 1000, such as 20' };
  expect(faultSentence(fault)).toBe(
    "Cannot use parameter 'size': it must be an integer from 1 to 1000, such as 20: current value is '0'",
  );
  expect(faultSentence({ ...fault, value: null })).toBe(
    "Cannot use parameter 'size': it must be an integer from 1 to 1000, such as 20",
  );
});
