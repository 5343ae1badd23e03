import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ChangesSeen, type Poll, pollMs, watchChanges } from './change-watch.ts';

const changed = (count: number, more = false, replaced = false): Poll => ({
  kind: 'changed',
  etag: `"${count}"`,
  seen: { count, more, replaced },
});

describe('the watch for changes', () => {
  let requests: [since: string | undefined, etag: string | undefined][];
  let seen: ChangesSeen[];
  let isActive: boolean;

  beforeEach(() => {
    vi.useFakeTimers();
    requests = [];
    seen = [];
    isActive = true;
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const watch = (...replies: (Poll | Error)[]) =>
    watchChanges({
      poll: async (since, etag) => {
        requests.push([since, etag]);
        const reply = replies.shift() ?? { kind: 'unchanged' };
        if (reply instanceof Error) throw reply;
        return reply;
      },
      isActive: () => isActive,
      onChange: (changes) => seen.push(changes),
    });
  const passPolls = (count: number) => vi.advanceTimersByTimeAsync(count * pollMs);

  test('requests a token of the present first, also after a failure, and then the changes after it', async () => {
    watch(new Error(), { kind: 'token', token: 't1' }, changed(3), { kind: 'unchanged' });
    await passPolls(3);
    expect(requests).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ['t1', undefined],
      ['t1', '"3"'],
    ]);
    expect(seen.map(({ count }) => count)).toEqual([3]);
  });

  test('has one poll at a time, also when the page becomes visible during a poll', async () => {
    const { resume } = watch({ kind: 'token', token: 't1' });
    resume();
    resume();
    await passPolls(0);
    expect(vi.getTimerCount()).toBe(1);
  });

  test('does not poll while the page is hidden, and polls at once when it is visible again', async () => {
    const { resume } = watch({ kind: 'token', token: 't1' });
    await passPolls(0);
    isActive = false;
    resume();
    await passPolls(2);
    expect(requests).toHaveLength(1);
    isActive = true;
    resume();
    expect(requests).toHaveLength(2);
  });

  test('ignores a response that arrives after it has ended', async () => {
    const { stop } = watch(changed(5));
    stop();
    await passPolls(1);
    expect(seen).toEqual([]);
  });

  test.each([
    ['more changes than it counts', changed(1000, true)],
    ['a replaced history', changed(0, false, true)],
  ])('ends after %s', async (_, reply) => {
    const { resume } = watch({ kind: 'token', token: 't1' }, reply);
    await passPolls(3);
    resume();
    expect(requests).toHaveLength(2);
  });
});
