import { expect, test } from 'vitest';
import { failureOf } from './failure.ts';
import { RequestError } from './request.ts';

test.each([new RequestError(502, {}, 'c-1'), new TypeError('Failed to fetch')])(
  'an error that no service has sent has no correlation id',
  (error) => {
    expect(failureOf(error)).toEqual({
      sentences: ['Cannot reach the service: the network or the service is down'],
      details: [],
    });
  },
);
