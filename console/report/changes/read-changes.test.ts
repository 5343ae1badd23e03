import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/client/error.ts';
import type { ChangesPage } from '../../../src/client/index.ts';
import { buildProblem } from '../../../src/contract/problem.ts';
import { VisitStore } from './last-visit.ts';
import { markAsSeen, readRecentChanges } from './read-changes.ts';

const minuteMs = 60_000;
let now = 0;
let requested: (string | undefined)[];
let store: VisitStore;
let values: Map<string, string>;

beforeEach(() => {
  now = Date.parse('2026-11-20T14:02:00Z');
  requested = [];
  values = new Map();
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
  store = new VisitStore(storage, 'acme', 'reporting');
});

/** A feed whose pages are those of the tokens. */
const feedOf = (pages: Readonly<Record<string, ChangesPage | Error>>) => ({
  async *changes(since?: string): AsyncGenerator<ChangesPage, void, undefined> {
    requested.push(since);
    const page = pages[since ?? ''];
    if (page === undefined || page instanceof Error) throw page ?? new Error(`unexpected token ${since}`);
    yield page;
  },
  async present(): Promise<string> {
    const { value } = await this.changes('now').next();
    return value?.next ?? expect.unreachable();
  },
});
const page = (next: string, ids: readonly string[] = [], hasMore = false): ChangesPage => ({
  changes: ids.map((id) => ({ id, removed: true })),
  next,
  hasMore,
  revision: 1,
});
const read = (pages: Parameters<typeof feedOf>[0]) => readRecentChanges(feedOf(pages), store, () => now);

describe('changes since the last visit', () => {
  test('the first visit reads no change, and remembers where it is', async () => {
    expect(await read({ now: page('t1') })).toEqual({ since: undefined, isLost: false, changes: [], hasMore: false });
    expect(requested).toEqual(['now']);
    expect([...values.values()].join()).not.toContain('removed');
  });

  test('a later visit has the changes since the end of the one before, newest first', async () => {
    const first = now;
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    const { since, changes } = await read({ t1: page('t3', ['a', 'b']) });
    expect(since).toBe(first);
    expect(changes.map(({ id }) => id)).toEqual(['b', 'a']);
  });

  test('a reload in the same visit still has them', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    await read({ t1: page('t3', ['a']) });
    now += minuteMs;
    expect((await read({ t1: page('t3', ['a']) })).changes).toHaveLength(1);
  });

  test('the visit after that begins where the reload ended', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    await read({ t1: page('t3', ['a']) });
    now += 31 * minuteMs;
    expect((await read({ t3: page('t3') })).changes).toEqual([]);
  });

  test('with more changes than a page, the next visit begins at the newest one', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    expect(await read({ t1: page('t2', ['a'], true), now: page('t9') })).toMatchObject({ hasMore: true });
    now += 31 * minuteMs;
    expect((await read({ t9: page('t9') })).changes).toEqual([]);
  });

  test('marked as seen, nothing is new, in this visit and in the next one', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    await read({ t1: page('t3', ['a']) });
    await markAsSeen(feedOf({ now: page('t4') }), store, () => now);
    expect((await read({ t4: page('t4') })).since).toBe(now);
  });

  test('a token that the service no longer knows is told, and counting begins again', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    const messages = ['Cannot continue: the change token must belong to these records'];
    const problem = buildProblem({ code: 'RESYNC_REQUIRED', messages }, 'c');
    const response = new Response(null, { status: 410 });
    const gone = new ApiError('RESYNC_REQUIRED', problem, response, { attempts: 1, correlationId: 'c' });
    const lost = await read({ t1: gone, now: page('t7') });
    expect(lost).toMatchObject({ isLost: true, changes: [] });
    expect(lost.since).toBe(now - 31 * minuteMs);
    expect((await read({ t7: page('t7') })).isLost).toBe(false);
  });

  test('they are described if the history is kept that long, and otherwise listed without their kinds', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    const problem = buildProblem({ code: 'HISTORY_NOT_KEPT', messages: ['Cannot read'] }, 'c');
    const notKept = new ApiError('HISTORY_NOT_KEPT', problem, new Response(null, { status: 410 }), {
      attempts: 1,
      correlationId: 'c',
    });
    const asked: unknown[] = [];
    const feed = (described: ChangesPage | Error) => ({
      async *changes(since?: string, { before }: { readonly before?: boolean } = {}) {
        asked.push([since, before]);
        if (before && described instanceof Error) throw described;
        yield before && !(described instanceof Error) ? described : page('t3', ['plain']);
      },
      present: () => expect.unreachable(),
    });
    const ids = async (described: ChangesPage | Error) =>
      (await readRecentChanges(feed(described), store, () => now, { isDescribed: true })).changes.map(({ id }) => id);
    expect(await ids(page('t3', ['described']))).toEqual(['described']);
    expect(await ids(notKept)).toEqual(['plain']);
    expect(asked).toEqual([
      ['t1', true],
      ['t1', true],
      ['t1', undefined],
    ]);
  });

  test('any other error is shown, and nothing is forgotten', async () => {
    await read({ now: page('t1') });
    now += 31 * minuteMs;
    await expect(read({ t1: new TypeError('no network') })).rejects.toThrow('no network');
    expect((await read({ t1: page('t3', ['a']) })).changes).toHaveLength(1);
  });

  test.each(['', 'null', '{}', '{"last":{"token":1,"at":2},"current":{}}'])(
    'a stored text %j that is not a visit counts as the first visit',
    async (text) => {
      await read({ now: page('t1') });
      for (const key of values.keys()) values.set(key, text);
      expect((await read({ now: page('t2') })).since).toBeUndefined();
    },
  );

  test('clients have visits of their own', async () => {
    await read({ now: page('t1') });
    const [key] = values.keys();
    expect(key).toContain('reporting');
    expect(key).toContain('acme');
  });
});
