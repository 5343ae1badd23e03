import { expect, test } from 'vitest';
import { ApiError } from '../../../src/client/error.ts';
import type { DescribedChange } from '../../../src/client/index.ts';
import { buildProblem } from '../../../src/contract/problem.ts';
import { notKept } from '../../../src/report/moment.ts';
import type { TenantHistory } from '../../../src/storage/tables/history.ts';
import { readPeriod } from './read-period.ts';

const begin = '2026-11-20T14:02:00Z';
const removal = (id: string): DescribedChange => ({ id, removed: true, kind: 'removed' });

/** A feed of a history, which rejects what the service rejects, in the words of the service. */
const feedOf = (history: Pick<TenantHistory, 'kept'>) => ({
  async *changes(since: string) {
    const seconds = Date.parse(since) / 1000;
    if (history.kept === undefined || seconds < history.kept.fromSeconds) {
      const report = notKept({ revision: 1, ...history } as TenantHistory, { parameter: 'since', value: since });
      const problem = buildProblem(report, 'c');
      const context = { correlationId: 'c', attempts: 1 };
      throw new ApiError('HISTORY_NOT_KEPT', problem, new Response(null, { status: 410 }), context);
    }
    yield { changes: [removal('a'), removal('b')], next: 'x', hasMore: false, revision: 1 };
  },
});
const fromSeconds = Date.parse(begin) / 1000;
const kept = feedOf({ kept: { from: 3, fromSeconds, lastSeconds: fromSeconds } });
const newestFirst = [removal('b'), removal('a')];

test('a period within the history is read whole, the newest change first', async () => {
  expect(await readPeriod(kept, begin)).toEqual({ changes: newestFirst, hasMore: false });
});

test('a longer period is read from the begin of the history, and says when that was', async () => {
  expect(await readPeriod(kept, '2026-11-19T14:02:00Z')).toEqual({
    changes: newestFirst,
    hasMore: false,
    knownSince: new Date(begin),
  });
});

test('without a history nothing is known', async () => {
  expect(await readPeriod(feedOf({}), begin)).toBeUndefined();
});

test('the changes of a kind are read on to the end of the period, but not for ever', async () => {
  const asked: unknown[] = [];
  const feed = (length: number) => ({
    async *changes(_since: string, options: unknown) {
      asked.push(options);
      for (let page = 1; page <= length; page++)
        yield { changes: page % 3 === 0 ? [removal(`r${page}`)] : [], next: `${page}`, hasMore: page < length };
    },
  });
  const { changes, hasMore } = (await readPeriod(feed(7), begin, 'removed')) ?? {};
  expect([changes?.map(({ id }) => id), hasMore]).toEqual([['r6', 'r3'], false]);
  expect(asked).toEqual([{ before: true, kind: 'removed' }]);
  expect(await readPeriod(feed(1_000), begin)).toMatchObject({ hasMore: true });
});
