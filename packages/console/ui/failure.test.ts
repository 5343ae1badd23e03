import { expect, test } from 'vitest';
import { failureOf } from './failure.ts';
import { RequestError } from './request.ts';

const problem = (type: string, rest = {}) => ({ type, messages: ['Cannot do this: current value is 1'], ...rest });

test('an error of the service has a sentence for people, and its own words as details', () => {
  expect(failureOf(new RequestError(503, problem('UNAVAILABLE'), 'c-1'))).toEqual({
    sentences: ['The service is busy. Try again in a moment.'],
    details: ['Cannot do this: current value is 1'],
    correlationId: 'c-1',
  });
});

test('an error without a sentence for people shows the words of the service', () => {
  expect(failureOf(new RequestError(409, problem('CONFLICT'), 'c-1'))).toEqual({
    sentences: ['Cannot do this: current value is 1'],
    details: [],
    correlationId: 'c-1',
  });
});

test.each([new RequestError(502, {}, 'c-1'), new TypeError('Failed to fetch')])(
  'an error that no service has sent has no correlation id',
  (error) => {
    expect(failureOf(error)).toEqual({
      sentences: ['Cannot reach the service: the network or the service is down'],
      details: [],
    });
  },
);
