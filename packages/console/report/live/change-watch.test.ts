import { beforeEach, describe, expect, test } from 'vitest';
import { type ChangesSeen, ChangeWatch, type Poll, pollDelayMs, pollMs } from './change-watch.ts';

const changed = (count: number, more = false, replaced = false): Poll => ({
  kind: 'changed',
  etag: `"${count}"`,
  seen: { count, more, replaced },
});

describe('the watch for changes', () => {
  let replies: (Poll | Error)[];
  let requests: [since: string | undefined, etag: string | undefined][];
  let timers: { run: () => void; ms: number }[];
  let seen: ChangesSeen[];
  let isActive: boolean;
  let watch: ChangeWatch;

  beforeEach(() => {
    replies = [];
    requests = [];
    timers = [];
    seen = [];
    isActive = true;
    watch = new ChangeWatch({
      poll: async (since, etag) => {
        requests.push([since, etag]);
        const reply = replies.shift() ?? { kind: 'unchanged' };
        if (reply instanceof Error) throw reply;
        return reply;
      },
      isActive: () => isActive,
      setTimer: (run, ms) => {
        const timer = { run, ms };
        timers.push(timer);
        return timer;
      },
      clearTimer: (timer) => {
        timers = timers.filter((other) => other !== timer);
      },
      onChange: (changes) => seen.push(changes),
    });
  });
  const begin = async (...given: (Poll | Error)[]) => {
    replies = given;
    watch.begin();
    await new Promise(setImmediate);
  };
  const nextPoll = async () => {
    timers.shift()?.run();
    await new Promise(setImmediate);
  };

  test('requests a token of the present first, and then the changes after it', async () => {
    await begin({ kind: 'token', token: 't1' }, changed(3), { kind: 'unchanged' });
    await nextPoll();
    await nextPoll();
    expect(requests).toEqual([
      [undefined, undefined],
      ['t1', undefined],
      ['t1', '"3"'],
    ]);
    expect(seen.map(({ count }) => count)).toEqual([0, 3]);
  });

  test('has one timer at a time, also when the page becomes visible during a poll', async () => {
    await begin({ kind: 'token', token: 't1' });
    watch.resume();
    watch.resume();
    await new Promise(setImmediate);
    expect(timers.map(({ ms }) => ms)).toEqual([pollMs]);
  });

  test('does not poll while the page is hidden, and polls at once when it is visible again', async () => {
    await begin({ kind: 'token', token: 't1' });
    isActive = false;
    watch.pause();
    expect(timers).toEqual([]);
    watch.resume();
    expect(requests).toHaveLength(1);
    isActive = true;
    watch.resume();
    expect(requests).toHaveLength(2);
  });

  test('waits twice as long after each failure, up to five minutes, and as before after a success', async () => {
    await begin(new Error(), new Error(), { kind: 'token', token: 't1' });
    expect(timers[0]?.ms).toBe(2 * pollMs);
    await nextPoll();
    expect(timers[0]?.ms).toBe(4 * pollMs);
    await nextPoll();
    expect(timers[0]?.ms).toBe(pollMs);
    expect(pollDelayMs(50)).toBe(300_000);
  });

  test('ignores a response that arrives after it has begun again', async () => {
    const { promise, resolve } = Promise.withResolvers<Poll>();
    const late = new ChangeWatch({
      poll: () => promise,
      isActive: () => true,
      setTimer: () => 1,
      clearTimer: () => undefined,
      onChange: (changes) => seen.push(changes),
    });
    late.begin();
    late.stop();
    resolve(changed(5));
    await new Promise(setImmediate);
    expect(seen.map(({ count }) => count)).toEqual([0]);
  });

  test.each([
    ['more changes than it counts', changed(1000, true)],
    ['a replaced history', changed(0, false, true)],
  ])('ends after %s', async (_, reply) => {
    await begin({ kind: 'token', token: 't1' }, reply);
    await nextPoll();
    expect(timers).toEqual([]);
    watch.resume();
    expect(requests).toHaveLength(2);
  });
});
