import { describe, expect, test } from 'vitest';
import { ApiError, ConnectionError, ExportError, ResponseError, TokenRequestError } from '../../../client/index.ts';
import { SyncError } from './error.ts';
import { isTemporary, retryRun } from './retry-run.ts';

const context = { correlationId: 'a', attempts: 3 };
const connection = (code: ConnectionError['code']) => new ConnectionError(code, 'no', context, undefined);
const response = (status: number, headers: Record<string, string> = {}) =>
  new ResponseError('UNKNOWN_ERROR', 'no', new Response(null, { status, headers }), context);
const sync = (code: SyncError['code'], cause?: object) => new SyncError(code, 'no', { cause });
const withCode = (code: string) => Object.assign(new Error('no'), { code });
const rejected = new TokenRequestError('invalid_client', 'no', new Response(null, { status: 401 }), context);
const problem = { type: 'RESYNC_REQUIRED', title: '', status: 410, detail: '', messages: [], errors: [] };
const gone = new ApiError(
  'RESYNC_REQUIRED',
  { ...problem, correlation_id: 'a' },
  new Response(null, { status: 410 }),
  context,
);

const temporary: readonly [string, unknown][] = [
  ['a refused connection', connection('CONNECTION_REFUSED')],
  ['a host that is not found, as before the network is up', connection('HOST_NOT_FOUND')],
  ['503', response(503)],
  ['429', response(429)],
  ['408', response(408)],
  ['an export that was cut off', new ExportError('INCOMPLETE', 'no', context)],
  ['another sync of the copy', sync('DESTINATION_BUSY')],
  ['a lost connection to the destination', sync('DESTINATION_FAILED', withCode('57P01'))],
];
const lasting: readonly [string, unknown][] = [
  ['a certificate that was rejected', connection('CERTIFICATE_REJECTED')],
  ['a wrong secret', rejected],
  ['a redirect', response(302)],
  ['410', gone],
  ['an export with another hash', new ExportError('HASH_DIFFERS', 'no', context)],
  ['a copy that differs', sync('NOT_EQUAL')],
  ['a destination that cannot be used', sync('DESTINATION_INVALID')],
  ['a full disk', sync('DESTINATION_FAILED', withCode('ENOSPC'))],
  ['a full disk of PostgreSQL', sync('DESTINATION_FAILED', withCode('53100'))],
  ['a mistake of the program', new TypeError('no')],
];

/** Runs what fails with each error once, on a clock that only waits advance. */
async function waitsOf(errors: readonly unknown[], limitMs = 300_000, stop = new AbortController()) {
  let now = 0;
  const waits: number[] = [];
  const result = await retryRun(
    async () => {
      if (waits.length < errors.length) throw errors[waits.length];
      return 'done';
    },
    {
      limitMs,
      signal: stop.signal,
      onWait: (_, waitMs) => waits.push(waitMs),
      clock: {
        now: () => now,
        async sleep(ms, signal) {
          now += ms;
          signal.throwIfAborted();
        },
      },
    },
  ).catch((error: unknown) => error);
  return { result, waits };
}

test.each(temporary)('%s is temporary: the run is retried', async (_, error) => {
  expect(isTemporary(error)).toBe(true);
  expect(await waitsOf([error])).toMatchObject({ result: 'done', waits: [expect.any(Number)] });
});

test.each(lasting)('%s is not temporary: the run fails at once', async (_, error) => {
  expect(isTemporary(error)).toBe(false);
  expect(await waitsOf([error])).toEqual({ result: error, waits: [] });
});

describe('a run that is retried', () => {
  const lost = connection('CONNECTION_LOST');

  test('waits twice as long each time, at most a minute, and ends within its limit after the first failure', async () => {
    const { result, waits } = await waitsOf(Array(100).fill(lost), 1_000_000);
    expect(result).toBe(lost);
    for (const [at, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(Math.min(60_000, 1_000 * 2 ** at));
      expect(wait).toBeGreaterThanOrEqual(Math.min(60_000, 1_000 * 2 ** at) / 2);
    }
    const sum = waits.reduce((all, wait) => all + wait);
    expect([sum <= 1_000_000, sum >= 1_000_000 - 60_000]).toEqual([true, true]);
  });

  test('waits as long as Retry-After says, or fails at once if that is beyond its limit', async () => {
    expect((await waitsOf([response(503, { 'retry-after': '120' })])).waits).toEqual([120_000]);
    const late = response(503, { 'retry-after': '301' });
    expect(await waitsOf([late])).toEqual({ result: late, waits: [] });
  });

  test('does not run before its backoff has passed, although Retry-After is 0', async () => {
    const { waits } = await waitsOf([response(429, { 'retry-after': '0' })]);
    expect(waits[0]).toBeGreaterThanOrEqual(500);
  });

  test('with a limit of 0 fails at once', async () => {
    expect(await waitsOf([lost], 0)).toEqual({ result: lost, waits: [] });
  });

  test('ends when it is stopped', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await waitsOf([lost], 300_000, stop)).toEqual({ result: lost, waits: [] });
  });

  test('leaves an event that was not accepted to the times in the state file of its webhook', async () => {
    const pending = sync('DELIVERY_PENDING');
    expect(isTemporary(pending)).toBe(true);
    expect(await waitsOf([pending])).toEqual({ result: pending, waits: [] });
  });
});
