import { expect, test } from 'vitest';
import { feedOf } from '../../../../test/support/changes-feed.ts';
import { ApiError } from '../../../client/error.ts';
import { buildProblem } from '../../../contract/problem.ts';
import { notKept } from '../../../service/report/moment.ts';
import type { TenantHistory } from '../../../service/storage/tables/history.ts';
import { changesPerPage, readMore, readPeriod } from './read-period.ts';

const begin = '2026-11-20T14:02:00Z';

/** A feed of a history, which rejects what the service rejects, in the words of the service. */
function keptFrom(history: Pick<TenantHistory, 'kept'>) {
  const feed = feedOf(['a', 'b']);
  return {
    ...feed,
    async *changes(...[since, options]: Parameters<typeof feed.changes>) {
      const seconds = Date.parse(since) / 1000;
      if (history.kept === undefined || seconds < history.kept.fromSeconds) {
        const report = notKept({ revision: 1, ...history } as TenantHistory, { parameter: 'since', value: since });
        const context = { correlationId: 'c', attempts: 1 };
        throw new ApiError('HISTORY_NOT_KEPT', buildProblem(report, 'c'), new Response(null, { status: 410 }), context);
      }
      yield* feed.changes('t0', options);
    },
    changesSummary: (_since: string, options: { readonly until?: number | undefined }) =>
      feed.changesSummary('t0', options),
  };
}
const fromSeconds = Date.parse(begin) / 1000;
const kept = keptFrom({ kept: { from: 3, fromSeconds, lastSeconds: fromSeconds } });
const ids = (period: Awaited<ReturnType<typeof readPeriod>>) => period?.changes.map(({ id }) => id);

test('a period within the history has its counts, and its newest changes first', async () => {
  const period = await readPeriod(kept, begin);
  expect(ids(period)).toEqual(['b', 'a']);
  expect(period).toMatchObject({ hasMore: false, summary: { total: 2 } });
  expect(period?.knownSince).toBeUndefined();
});

test('a longer period is read from the begin of the history, and says when that was', async () => {
  const period = await readPeriod(kept, '2026-11-19T14:02:00Z');
  expect([ids(period), period?.knownSince]).toEqual([['b', 'a'], new Date(begin)]);
});

test('without a history nothing is known', async () => {
  expect(await readPeriod(keptFrom({}), begin)).toBeUndefined();
});

test('more changes than a page are counted all, as of the revision of the page, and listed on request', async () => {
  const feed = feedOf(Array.from({ length: 250 }, (_, n) => `r${n}`));
  const first = await readPeriod(
    {
      ...feed,
      changesSummary: (...asked) => {
        feed.add('loaded between the two responses');
        return feed.changesSummary(...asked);
      },
    },
    't0',
  );
  feed.add('later'); // while the list is shown
  expect(first).toMatchObject({ hasMore: true, summary: { total: 250, revision: 250 }, end: 't250' });
  expect(ids(first)?.[0]).toBe('r249');
  let all = first ?? expect.unreachable();
  while (all.hasMore) all = await readMore(feed, all);
  expect(ids(all)).toHaveLength(250);
  expect(new Set(ids(all)).size).toBe(250);
  expect(feed.asked.every(({ size }) => size === changesPerPage)).toBe(true);
});

test('a selection is passed to the service with each page, while the counts are of all changes', async () => {
  const feed = feedOf(Array.from({ length: 250 }, (_, n) => `r${n}`));
  const selection = { field: 'status', from: 'ACTIVE', 'import-id': 'none' } as const;
  let period = (await readPeriod(feed, 't0', selection)) ?? expect.unreachable();
  while (period.hasMore) period = await readMore(feed, period, selection);
  expect(feed.asked).toEqual([
    { ...selection, before: true, order: 'newest', size: changesPerPage },
    { ...selection, before: true, size: changesPerPage },
    { ...selection, before: true, size: changesPerPage },
  ]);
  expect(period.summary?.total).toBe(250);
});
