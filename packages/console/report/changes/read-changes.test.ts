import { beforeEach, describe, expect, test, vi } from 'vitest';
import { feedOf } from '../../../../test/support/changes-feed.ts';
import { ApiError } from '../../../client/error.ts';
import { buildProblem } from '../../../contract/problem.ts';
import { VisitStore } from './last-visit.ts';
import { type ChangeReader, markAsSeen, type RecentChanges, readRecentChanges } from './read-changes.ts';

const minuteMs = 60_000;
let now = 0;
let store: VisitStore;
let values: Map<string, string>;

beforeEach(() => {
  now = Date.parse('2026-11-20T14:02:00Z');
  values = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  });
  store = new VisitStore('acme', 'reporting');
});

const look = (feed: ChangeReader, options: Parameters<typeof readRecentChanges>[3]) =>
  readRecentChanges(feed, store, () => now, options);
const read = (feed: ChangeReader) => look(feed, { isListed: true });
const idsOf = ({ period }: RecentChanges) => period?.changes.map(({ id }) => id);
const afterVisit = (): void => {
  now += 31 * minuteMs;
};
const manyIds = Array.from({ length: 5_810 }, (_, n) => `many-${n}`);
const withError = (feed: ReturnType<typeof feedOf>, error: Error) => ({
  ...feed,
  changes: (): ReturnType<ChangeReader['changes']> => {
    throw error;
  },
});
const gone = (code: 'RESYNC_REQUIRED' | 'HISTORY_NOT_KEPT') =>
  new ApiError(code, buildProblem({ code, messages: ['Cannot read'] }, 'c'), new Response(null, { status: 410 }), {
    attempts: 1,
    correlationId: 'c',
  });

describe('changes since the last visit', () => {
  test('the first visit has the changes of the last 24 hours on each page, and remembers where it is', async () => {
    const feed = feedOf(['removed']);
    const since: string[] = [];
    const changes: ChangeReader['changes'] = (...given) => {
      since.push(given[0]);
      return feed.changes(...given);
    };
    for (const isListed of [false, true])
      expect(await look({ ...feed, changes }, { isListed })).toMatchObject({
        since: undefined,
        period: { summary: { total: 1 } },
      });
    expect(since).toEqual(['2026-11-19T14:02:00Z', '2026-11-19T14:02:00Z']);
    expect([...values.values()].join()).not.toContain('removed');
  });

  test('a later visit has the changes since the end of the one before, newest first, also after a reload', async () => {
    const [feed, first] = [feedOf([]), now];
    await read(feed);
    afterVisit();
    for (const id of ['a', 'b']) feed.add(id);
    const recent = await read(feed);
    expect([recent.since, idsOf(recent), recent.period?.summary?.total]).toEqual([first, ['b', 'a'], 2]);
    now += minuteMs;
    expect(idsOf(await read(feed))).toEqual(['b', 'a']);
  });

  test('the visit after one that listed all changes begins where that one ended', async () => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    feed.add('a');
    await read(feed);
    feed.add('b');
    afterVisit();
    expect(idsOf(await read(feed))).toEqual(['b']);
  });

  const ways: readonly (readonly [does: string, ids: readonly string[], options: Parameters<typeof look>[1]])[] = [
    ['has listed only some changes', manyIds, { isListed: true }],
    ['has only counted many changes', manyIds, { isListed: false }],
    ['has only counted a few changes', ['a', 'b'], { isListed: false }],
    ['has listed some changes of a selection', manyIds, { isListed: true, selection: { kind: 'removed' } }],
    ['has listed all changes of a selection', ['a', 'b'], { isListed: true, selection: { 'import-id': 'none' } }],
  ];
  test.each(ways)('a visit that %s passes over none of them', async (_does, ids, options) => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    for (const id of ids) feed.add(id);
    expect((await look(feed, options)).period?.summary?.total).toBe(ids.length);
    afterVisit();
    feed.add('later');
    expect((await read(feed)).period?.summary?.total).toBe(ids.length + 1);
  });

  test('marked as seen, what was counted is no longer new, and what was loaded since then is', async () => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    for (const id of manyIds) feed.add(id);
    const { period } = await read(feed);
    feed.add('of an import while the page was shown');
    markAsSeen(period ?? expect.unreachable(), store, () => now);
    const rest = await read(feed);
    expect([rest.since, idsOf(rest)]).toEqual([now, ['of an import while the page was shown']]);
  });

  test('without a history nothing is known, and the last visit stays the last one', async () => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    feed.add('a');
    expect(await read(withError(feed, gone('HISTORY_NOT_KEPT')))).toEqual({
      since: now - 31 * minuteMs,
      isLost: false,
    });
    expect(idsOf(await read(feed))).toEqual(['a']);
  });

  test('a token that the service no longer knows is told, and counting begins again', async () => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    feed.add('a');
    expect(await read(withError(feed, gone('RESYNC_REQUIRED')))).toEqual({ since: now - 31 * minuteMs, isLost: true });
    expect(await read(feed)).toMatchObject({ isLost: false, period: { changes: [] } });
  });

  test('any other error is shown, and nothing is forgotten', async () => {
    const feed = feedOf([]);
    await read(feed);
    afterVisit();
    feed.add('a');
    await expect(read(withError(feed, new TypeError('no network')))).rejects.toThrow('no network');
    expect(idsOf(await read(feed))).toEqual(['a']);
  });

  test.each(['', 'null', '{}', '{"last":{"token":1,"at":2},"current":{}}'])(
    'a stored text %j that is not a visit counts as the first visit',
    async (text) => {
      await read(feedOf([]));
      for (const key of values.keys()) values.set(key, text);
      expect((await read(feedOf(['a']))).since).toBeUndefined();
    },
  );

  test('clients have visits of their own', async () => {
    await read(feedOf([]));
    const [key] = values.keys();
    expect(key).toContain('reporting');
    expect(key).toContain('acme');
  });
});
