import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { decodeChangeToken, encodeChangeToken, historyFingerprint } from '../../report/change-token.ts';
import { listChanges } from '../../report/list-changes.ts';
import { listSubscriptions } from '../../report/list-subscriptions.ts';
import { parseReport } from '../../report/parse.ts';
import { type ChangeFormat, parseChanges } from '../../report/parse-changes.ts';
import type { ReportContext } from '../../report/report-query.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

type Change = { readonly id: string; readonly removed?: true };

interface Answer {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly has_more: boolean;
}

/**
 * A client that maintains a copy as docs/readers/changes.md describes: between two responses it
 * keeps only its token and the JSON of its records.
 */
interface Follower {
  token: string | undefined;
  readonly copy: Map<string, string>;
}

const newFollower = (): Follower => ({ token: undefined, copy: new Map() });

function apply(follower: Follower, { changes, next }: Answer): void {
  for (const change of changes) {
    if (change.removed) follower.copy.delete(change.id);
    else follower.copy.set(change.id, JSON.stringify(change));
  }
  follower.token = next;
}

function readBody(format: ChangeFormat, body: string): Answer {
  if (format === 'json') return JSON.parse(body) as Answer;
  const lines = body.split('\n');
  expect(lines.pop()).toBe('');
  return { ...JSON.parse(lines.pop() ?? ''), changes: lines.map((line) => JSON.parse(line) as Change) };
}

const idsMax = 14;
const idOf = (n: number): string => `id${n}${'='.repeat(n % 3)}`;
const someIds = fc.uniqueArray(fc.nat({ max: idsMax }), { minLength: 1, maxLength: idsMax });
const sizes = fc.constantFrom(1, 2, 3, 5, 8, 100);

/**
 * A step of a history: records are loaded or removed, a client reads one page, a client starts
 * again, with or without a copy of the report, or the other tenant changes.
 */
const historyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('load' as const), ids: someIds, version: fc.nat({ max: 2 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), ids: someIds }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      reader: fc.nat({ max: 2 }),
      size: sizes,
      format: fc.constantFrom('json' as const, 'ndjson' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('anew' as const), reader: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('since now' as const), reader: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('elsewhere' as const), ids: someIds, removes: fc.boolean() }) },
);

describe.each(drawn)('the changes on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  const newTenant = (createdAt = 1) => addTenant(store, undefined, createdAt);
  const load = (tenant: TenantId, ids: readonly number[], version = 0) =>
    store.loadSubscriptions(
      tenant,
      ids.map((n) => subscriptionRow({ id: idOf(n), createdDate: n, deviceId: `${tenant} ${version}` })),
    );
  const remove = (tenant: TenantId, ids: readonly number[]) => store.deleteSubscriptions(tenant, ids.map(idOf));
  const answer = async (tenant: TenantId, query: string, format: ChangeFormat = 'json') => {
    const { body, headers } = await listChanges(context, tenant, parseChanges(query, context, format));
    return { ...readBody(format, body), headers };
  };
  const queryOf = (token: string | undefined, size: number): string =>
    `${token === undefined ? '' : `since=${token}&`}size=${size}`;
  const readOnce = async (tenant: TenantId, follower: Follower, size: number, format: ChangeFormat = 'json') => {
    const one = await answer(tenant, queryOf(follower.token, size), format);
    expect(one.changes.length).toBeLessThanOrEqual(size);
    if (one.has_more) expect(one.changes).toHaveLength(size);
    apply(follower, one);
    return one;
  };
  const catchUp = async (tenant: TenantId, follower: Follower, size: number) => {
    for (let more = true, answers = 0; more; answers += 1) {
      more = (await readOnce(tenant, follower, size)).has_more;
      if (answers > 100) throw new Error('the changes do not end');
    }
  };
  /** The current report, by id. */
  const reportOf = async (tenant: TenantId) => {
    const { body } = await listSubscriptions(context, tenant, parseReport('size=1000', context, 'json'));
    return new Map((JSON.parse(body.toString()) as Change[]).map((record) => [record.id, JSON.stringify(record)]));
  };
  const inOrder = (copy: ReadonlyMap<string, string>) => [...copy].sort();

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = {
      store,
      limits: defaultPageLimits,
      reportUrl: 'http://localhost/r',
      now: () => 1,
    };
  });
  afterAll(() => opened.close());

  test('a client that applies all changes has the current report, whatever changed between its requests (property)', async () => {
    await checkProperty(
      fc.asyncProperty(fc.array(historyStep, { minLength: 5, maxLength: 40 }), sizes, async (steps, lastSize) => {
        const [tenant, other] = [await newTenant(), await newTenant()];
        const followers = [newFollower(), newFollower(), newFollower()];
        for (const step of steps) {
          if (step.kind === 'load') await load(tenant, step.ids, step.version);
          else if (step.kind === 'remove') await remove(tenant, step.ids);
          else if (step.kind === 'elsewhere') await (step.removes ? remove : load)(other, step.ids);
          else if (step.kind === 'anew') followers[step.reader] = newFollower();
          else if (step.kind === 'since now') {
            const { changes, next } = await answer(tenant, 'since=now');
            expect(changes).toEqual([]);
            followers[step.reader] = { token: next, copy: await reportOf(tenant) };
          } else {
            const follower = followers[step.reader] ?? newFollower();
            const { has_more } = await readOnce(tenant, follower, step.size, step.format);
            if (!has_more) expect(inOrder(follower.copy)).toEqual(inOrder(await reportOf(tenant)));
          }
        }
        const report = inOrder(await reportOf(tenant));
        for (const follower of followers) {
          await catchUp(tenant, follower, lastSize);
          expect(inOrder(follower.copy)).toEqual(report);
        }
      }),
      { least: 10, most: 60 },
    );
  });

  test('a client that reads the changes from the beginning drops removed records from an old copy', async () => {
    const tenant = await newTenant();
    await load(tenant, [1, 2, 3, 4]);
    const follower = { token: undefined, copy: await reportOf(tenant) };
    await remove(tenant, [2, 3]);
    await load(tenant, [3, 5]);
    await catchUp(tenant, follower, 2);
    expect(inOrder(follower.copy)).toEqual(inOrder(await reportOf(tenant)));
  });

  test('changes are ordered by revision, then by id, and a page may end within a revision', async () => {
    const tenant = await newTenant();
    await load(tenant, [0, 3, 6, 9, 12]);
    await remove(tenant, [3, 9]);
    await load(tenant, [6, 1], 1);
    const pages: (readonly Change[])[] = [];
    for (let token: string | undefined, more = true; more && pages.length < 5; ) {
      const { changes, next, has_more } = await answer(tenant, queryOf(token, 2));
      pages.push(changes);
      [token, more] = [next, has_more];
    }
    expect(pages.map((page) => page.map(({ id, removed = false }) => [id, removed]))).toEqual([
      [
        [idOf(0), false],
        [idOf(12), false],
      ],
      [
        [idOf(3), true],
        [idOf(9), true],
      ],
      [
        [idOf(1), false],
        [idOf(6), false],
      ],
    ]);
  });

  test('changes contain the stored JSON of records, and tombstones with an id and removed', async () => {
    const tenant = await newTenant();
    const record = '{"id":"a",  "text":"as it was \\u00e4 imported"}';
    await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', record }), subscriptionRow({ id: 'b' })]);
    await store.deleteSubscriptions(tenant, ['b']);
    const { body } = await listChanges(context, tenant, parseChanges('', context, 'json'));
    expect(body.startsWith(`{"changes":[${record},{"id":"b","removed":true}],"next":"`)).toBe(true);
    const lines = await listChanges(context, tenant, parseChanges('', context, 'ndjson'));
    expect(lines.body.startsWith(`${record}\n{"id":"b","removed":true}\n{"next":"`)).toBe(true);
    expect(lines.body.endsWith(',"has_more":false}\n')).toBe(true);
  });

  test('the changes of a tenant contain no record and no tombstone of another tenant', async () => {
    const [one, two] = [await newTenant(), await newTenant()];
    await load(one, [1, 2]);
    await remove(one, [2]);
    await load(two, [3, 4]);
    await remove(two, [4]);
    expect((await answer(one, '')).changes.map(({ id }) => id)).toEqual([1, 2].map(idOf));
    expect((await answer(two, '')).changes.map(({ id }) => id)).toEqual([3, 4].map(idOf));
  });

  test('a tenant without records has a token, and later changes follow it', async () => {
    const tenant = await newTenant();
    const { changes, next, has_more } = await answer(tenant, '');
    expect([changes, has_more]).toEqual([[], false]);
    await load(tenant, [1]);
    expect((await answer(tenant, `since=${next}`)).changes.map(({ id }) => id)).toEqual([idOf(1)]);
  });

  test('the token stays the same while nothing changes, and after an import of equal records', async () => {
    const tenant = await newTenant();
    await load(tenant, [1, 2]);
    const { next } = await answer(tenant, '');
    await load(tenant, [1, 2]);
    await remove(tenant, [7]);
    expect(await answer(tenant, `since=${next}`)).toMatchObject({ changes: [], next, has_more: false });
  });

  test('X-Next-Page and Link are sent only if more changes exist', async () => {
    const tenant = await newTenant();
    await load(tenant, [1, 2, 3]);
    const first = await answer(tenant, 'size=2');
    const url = `http://localhost/r/changes?since=${first.next}&size=2`;
    expect(first.headers).toMatchObject({ 'x-next-page': url, link: `<${url}>; rel="next"` });
    const second = await answer(tenant, url.split('?')[1] ?? '');
    expect(second.changes).toHaveLength(1);
    expect(Object.keys(second.headers)).toEqual(['content-type', 'x-revision']);
    expect((await answer(tenant, 'size=3')).has_more).toBe(false); // exactly all of them
  });

  describe('a change token', () => {
    const expectResync = async (tenant: TenantId, token: string) =>
      expect(answer(tenant, `since=${token}`), token).rejects.toMatchObject({
        code: 'RESYNC_REQUIRED',
        messages: [expect.stringContaining("without 'since'")],
        faults: [{ parameter: 'since', value: null }],
      });

    test('of another tenant is rejected', async () => {
      const [one, two] = [await newTenant(), await newTenant()];
      for (const tenant of [one, two]) await load(tenant, [1, 2, 3]);
      for (const size of [1, 10]) await expectResync(two, (await answer(one, `size=${size}`)).next);
    });

    test('of a tenant with the same name in another store is rejected', async () => {
      const elsewhere = await openTestStore();
      const tenant = await newTenant();
      await load(tenant, [1, 2]);
      const { next } = await answer(tenant, '');
      await insertTenant(elsewhere.store, tenant, 2);
      await elsewhere.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
      const query = parseChanges(`since=${next}`, context, 'json');
      await expect(listChanges({ ...context, store: elsewhere.store }, tenant, query)).rejects.toMatchObject({
        code: 'RESYNC_REQUIRED',
      });
      await elsewhere.close();
    });

    test('ahead of the store, as after a restored backup, is rejected; at the newest revision it is accepted', async () => {
      const tenant = await newTenant();
      await load(tenant, [1]);
      const tokenAt = (revision: number, id: string) => {
        const key = { revision, id };
        return encodeChangeToken({ key, fingerprint: historyFingerprint(tenant, { createdAt: 1 }, { key }) });
      };
      expect((await answer(tenant, '')).next).toBe(tokenAt(2, ''));
      expect((await answer(tenant, `since=${tokenAt(2, '')}`)).changes).toEqual([]);
      for (const ahead of [tokenAt(2, 'a'), tokenAt(3, ''), tokenAt(3, 'a'), tokenAt(Number.MAX_SAFE_INTEGER, 'a')])
        await expectResync(tenant, ahead);
    });

    test('with one changed letter is rejected or malformed', async () => {
      const tenant = await newTenant();
      await load(tenant, [1, 2, 3]);
      const { next } = await answer(tenant, 'size=2');
      for (let at = 0; at < next.length; at += 1) {
        for (const letter of ['A', 'B', 'w', '0', '9', '_']) {
          if (next[at] === letter) continue;
          const token = `${next.slice(0, at)}${letter}${next.slice(at + 1)}`;
          const known = decodeChangeToken(token);
          if (known !== undefined) await expectResync(tenant, token);
          else expect(() => parseChanges(`since=${token}`, context, 'json')).toThrow(/Cannot use parameter 'since'/);
        }
      }
    });
  });
});
