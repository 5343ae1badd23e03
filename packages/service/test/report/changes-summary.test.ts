import fc from 'fast-check';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { ChangesSummary, listedMax } from '../../../contract/changes-summary.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { calendarOf } from '../../report/calendar.ts';
import { getChangesSummary } from '../../report/get-changes-summary.ts';
import { parseChangesSummary } from '../../report/parse-changes.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { summariseChanges } from '../../storage/read/changes-summary.ts';
import { directoryStatement, type Store, type TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';
import { findTenant } from '../../storage/tables/tenant.ts';
import { type Change, readerOfPast } from './read-past.ts';

const chosen = drawOne(engines, import.meta.url);

// Random histories, whose changes are counted here from the records of each revision. Commits of
// one second, records that come and go, moves to another product and imports of several batches are
// drawn.

/** What of a record a summary counts. */
interface State {
  readonly status: string | null;
  readonly product: string;
  readonly renews: string;
  readonly ends: number;
  /** Which of several records that are equal otherwise. */
  readonly version: number;
}

interface Revision {
  readonly revision: number;
  readonly records: ReadonlyMap<number, State>;
  /** The records that were changed, or removed. */
  readonly touched: ReadonlySet<number>;
  readonly importId: string | undefined;
  readonly day: number;
}

const drawnState: fc.Arbitrary<State> = fc.record({
  status: fc.constantFrom(null, 'ACTIVE', 'DEPLETED', 'SUSPENDED'),
  product: fc.constantFrom('product-1', 'product-2', 'none'),
  renews: fc.constantFrom('true', 'false'),
  ends: fc.constantFrom(1_800_000_000, 1_800_000_001, 1_900_000_000),
  version: fc.nat(1),
});
const drawnRecords = fc.uniqueArray(fc.tuple(fc.nat(9), drawnState), { maxLength: 8, selector: ([n]) => n });
const days = calendarOf('day', undefined, { from: 0, until: 0 });
const importIds = ['0a', '0b', '0c'];
const drawnStep = fc.record({
  kind: fc.constantFrom('load', 'load', 'replace', 'remove'),
  records: drawnRecords,
  importId: fc.option(fc.constantFrom(...importIds), { nil: undefined }),
  removed: fc.uniqueArray(fc.nat(9), { maxLength: 4 }),
  laterDays: fc.constantFrom(0, 0, 0, 1, 3),
});
type Step = typeof drawnStep extends fc.Arbitrary<infer T> ? T : never;

const idOf = (n: number): string => `id${n}`;
const rowOf = ([n, { status, product, renews, ends, version }]: readonly [number, State]): SubscriptionRow =>
  subscriptionRow({
    id: idOf(n),
    status,
    productId: product,
    autoRenew: renews,
    expirationDate: ends,
    deviceId: `device-${version}`,
  });
const isSame = (a: State | undefined, b: State | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Adds one to the count of a key. */
const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
const entries = (counts: ReadonlyMap<string, number>) => [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** The counts of a period as text, whatever their order. */
interface Counted {
  readonly kinds: readonly number[];
  readonly renewed: number;
  readonly status: ReturnType<typeof entries>;
  readonly products: ReturnType<typeof entries>;
  readonly renews: ReturnType<typeof entries>;
  readonly days: ReturnType<typeof entries>;
  readonly imports: ReturnType<typeof entries>;
}

/** Counts the changes between two revisions from their records. */
function countBetween(history: readonly Revision[], since: number, until: number): Counted {
  const [before, after] = [history[since]?.records, history[until]?.records];
  const period = history.slice(since + 1, until + 1);
  const status = new Map<string, number>();
  const products = new Map<string, number>();
  const renews = new Map<string, number>();
  const days = new Map<string, number>();
  const imports = new Map<string, number>();
  const kinds = { added: 0, changed: 0, removed: 0 };
  let renewed = 0;
  for (const n of new Set(period.flatMap(({ touched }) => [...touched]))) {
    const [was, is] = [before?.get(n), after?.get(n)];
    const last = period.findLast(({ touched }) => touched.has(n));
    if (last === undefined || (was === undefined && is === undefined)) continue;
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    kinds[kind] += 1;
    count(days, `${formatInstant(last.day * 86_400).slice(0, 10)} ${kind}`);
    count(imports, `${last.importId} ${kind}`);
    if (was === undefined || is === undefined) continue;
    if (was.ends < is.ends) renewed += 1;
    if (was.status !== is.status) count(status, `${was.status} ${is.status}`);
    if (was.status !== is.status) count(imports, `${last.importId} ${was.status} ${is.status}`);
    if (was.ends < is.ends) count(imports, `${last.importId} renewed`);
    if (was.product !== is.product) count(products, `${was.product} ${is.product}`);
    if (was.renews !== is.renews) count(renews, `${was.renews} ${is.renews}`);
  }
  return {
    kinds: Object.values(kinds),
    renewed,
    status: entries(status),
    products: entries(products),
    renews: entries(renews),
    days: entries(days),
    imports: entries(imports),
  };
}

const kindNames = ['added', 'changed', 'removed'] as const;

/** The same counts, as the service returned them. */
function countsOf(summary: ChangesSummary): Counted {
  const { by } = summary;
  const pairs = (list: readonly { from: string | null; to: string | null; count: number }[], start = '') =>
    list.map(({ from, to, count: n }) => [`${start}${from} ${to}`, n] as const);
  const kindsIn = (name: string, counts: Readonly<Record<(typeof kindNames)[number], number>>) =>
    kindNames.map((kind) => [`${name} ${kind}`, counts[kind]] as const).filter(([, n]) => n > 0);
  const sorted = (list: readonly (readonly [string, number])[]) => entries(new Map(list));
  return {
    kinds: kindNames.map((kind) => summary[kind]),
    renewed: summary.renewed,
    status: sorted(pairs(by.status)),
    products: sorted(pairs(by['product-id'])),
    renews: sorted(pairs(by['auto-renew'])),
    days: sorted(by.day.flatMap(({ value, ...counts }) => kindsIn(String(value), counts))),
    imports: sorted(
      by.import.flatMap(({ import_id: id, renewed, status, ...counts }) => [
        ...kindsIn(String(id), counts),
        ...pairs(status, `${id} `),
        ...(renewed > 0 ? ([[`${id} renewed`, renewed]] as const) : []),
      ]),
    ),
  };
}

/** Selects the changes behind one count of a summary. */
const selections = (summary: ChangesSummary): readonly (readonly [query: string, count: number])[] => [
  ...kindNames.map((kind) => [`kind=${kind}`, summary[kind]] as const),
  ['field=renewal', summary.renewed],
  ...summary.by.status.map(
    ({ from, to, count: n }) => [`field=status&from=${from ?? 'none'}&to=${to ?? 'none'}`, n] as const,
  ),
  ...summary.by['product-id'].map(({ from, to, count: n }) => [`field=product-id&from=${from}&to=${to}`, n] as const),
  ...summary.by['auto-renew'].map(({ from, to, count: n }) => [`field=auto-renew&from=${from}&to=${to}`, n] as const),
  ...summary.by.import.flatMap(({ import_id: id, added, changed, removed, status }) => [
    [`import-id=${id ?? 'none'}`, added + changed + removed] as const,
    ...status.map(
      ({ from, to, count: n }) =>
        [`import-id=${id ?? 'none'}&field=status&from=${from ?? 'none'}&to=${to ?? 'none'}`, n] as const,
    ),
  ]),
];

describe.each(chosen)('the summary of changes on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  let read: ReturnType<typeof readerOfPast>;
  const today = Math.floor(Date.now() / 86_400_000);

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: () => (today + 40) * 86_400 };
    read = readerOfPast(context);
  });
  afterAll(() => opened.close());

  const newTenant = () => addTenant(store, undefined, 1_700_000_000);
  const revisionOf = async (tenant: TenantId): Promise<number> => (await findTenant(store, tenant))?.revision ?? 0;
  const summarise = async (tenant: TenantId, query: string): Promise<ChangesSummary> => {
    const { body, headers } = await getChangesSummary(context, tenant, parseChangesSummary(query, context));
    const summary = JSON.parse(String(body)) as ChangesSummary;
    expect(Check(ChangesSummary, summary)).toBe(true);
    expect([headers['x-total-count'], headers['x-revision']]).toEqual([`${summary.total}`, `${summary.revision}`]);
    return summary;
  };
  /** Reads all changes of a query; every page but the last one is full. */
  async function walk(tenant: TenantId, query: string, size: number): Promise<readonly Change[]> {
    const all: Change[] = [];
    let [page, more] = [await read.changesOf(tenant, `${query}&before=true&size=${size}`), ''];
    for (;;) {
      all.push(...page.changes);
      if (!page.has_more) return all;
      if (/kind|field|import/.test(query)) expect(page.changes).toHaveLength(size);
      more = query.replace(/since=[^&]*/, `since=${page.next}`);
      page = await read.changesOf(tenant, `${more}&before=true&size=${size}`);
    }
  }

  async function take(tenant: TenantId, { kind, records, importId, removed }: Step, state: Map<number, State>) {
    const rows = records.map(rowOf);
    const given = new Map(records);
    if (kind === 'replace') {
      const replacement = await store.openStagedLoad(tenant, importId);
      await replacement.add(rows);
      await replacement.finish(false);
      await replacement.close();
    }
    const gone = kind === 'remove' ? removed.filter((n) => !given.has(n)) : [];
    if (kind === 'load') await store.loadSubscriptions(tenant, rows, undefined, importId);
    if (kind === 'remove') await removeRecords(store, tenant, gone.map(idOf), rows, importId);
    const next = kind === 'replace' ? given : new Map([...state, ...given]);
    for (const n of gone) next.delete(n);
    const touched = new Set([...state.keys(), ...next.keys()].filter((n) => !isSame(state.get(n), next.get(n))));
    return { next, touched };
  }

  test('a summary of any period of a random history is the count of its records, and each part leads to its changes', async () => {
    const run = fc.asyncProperty(
      fc.array(drawnStep, { minLength: 3, maxLength: 9 }),
      fc.constantFrom(1, 2, 7),
      async (steps, size) => {
        const tenant = await newTenant();
        let [state, day] = [new Map<number, State>(), today];
        const history: Revision[] = [];
        const tokens: string[] = [];
        const first: Step = {
          kind: 'load',
          records: [[1, { ...drawnOne }]],
          removed: [],
          laterDays: 0,
          importId: '0a',
        };
        for (const step of [first, ...steps]) {
          const { next, touched } = await take(tenant, step, state);
          const revision = await revisionOf(tenant);
          if (revision === history.at(-1)?.revision) continue;
          [state, day] = [next, day + step.laterDays];
          // as if it had been loaded on a later day
          const sql =
            'update subscription_commit set committed_at = $2 where tenant_id = $1 and revision = $3 returning revision';
          await store.writeTenant(tenant, [{ sql, values: [day * 86_400 + 7, revision] }]);
          history.push({ revision, records: next, touched, importId: step.importId, day });
          tokens.push(await read.tokenNow(tenant));
        }
        const endOf = (until: number) => (until === history.length - 1 ? '' : `&until=${history[until]?.revision}`);
        for (const [since, token] of tokens.entries())
          for (let until = since; until < history.length; until += 1) {
            const isPresent = until === history.length - 1;
            const summary = await summarise(tenant, `since=${token}${endOf(until)}`);
            expect(countsOf(summary)).toEqual(countBetween(history, since, until));
            expect(summary).toMatchObject({
              since_revision: history[since]?.revision,
              revision: history[until]?.revision,
              next: tokens[until],
              omitted: { status: 0, 'product-id': 0, import: 0 },
            });
            if (!isPresent) continue;
            const all = await walk(tenant, `since=${token}`, size);
            const newest = await walk(tenant, `since=${token}&order=newest`, size);
            expect(newest).toEqual(all.toReversed());
            for (const [query, n] of selections(summary)) {
              const selected = await walk(tenant, `since=${token}&${query}`, size);
              expect([query, selected.length]).toEqual([query, n]);
              expect(await walk(tenant, `since=${token}&order=newest&${query}`, size)).toEqual(selected.toReversed());
            }
          }
      },
    );
    await checkProperty(run, { least: 2, most: 20 });
  });

  const drawnOne: State = { status: 'ACTIVE', product: 'product-1', renews: 'true', ends: 1_800_000_000, version: 0 };
  const load = (tenant: TenantId, records: readonly (readonly [number, Partial<State>])[], importId?: string) =>
    store.loadSubscriptions(
      tenant,
      records.map(([n, given]) => rowOf([n, { ...drawnOne, ...given }])),
      undefined,
      importId,
    );

  test('transitions that are equally frequent are listed by value, those from no status last', async () => {
    const tenant = await newTenant();
    const words = [null, '\u{1f600}', 'A B', 'A', '\ue000'];
    const loadFrom = (shift: number) =>
      load(
        tenant,
        words.map((_, n) => [n, { status: words[(n + shift) % 5] ?? null }]),
      );
    await loadFrom(0);
    const token = await read.tokenNow(tenant);
    await loadFrom(1);
    const { by } = await summarise(tenant, `since=${token}`);
    expect(by.status.map(({ from }) => from)).toEqual(['A', 'A B', '\ue000', '\u{1f600}', null]);
  });

  test('an erasure is counted once, and changes no closed period that the record was not removed in', async () => {
    const tenant = await newTenant();
    const add = (...ids: readonly number[]) => {
      const rows = ids.map((n) => [n, {}] as const);
      return load(tenant, rows);
    };
    await add(1, 2);
    const since = `since=${await read.tokenNow(tenant)}`;
    await add(3, 4);
    await removeRecords(store, tenant, ['id2', 'id3', 'id4']);
    await add(2, 5);
    const removedIn = async (query: string) => (await summarise(tenant, `${since}${query}`)).removed;
    const closed = ['&until=2', '&until=3', '&until=4'];
    const before = await Promise.all(closed.map(removedIn));
    expect([before, await removedIn('')]).toEqual([[0, 1, 0], 0]);
    await store.deleteSubscriptions(tenant, ['id1', 'id2', 'id3', 'id5']);
    expect([await Promise.all(closed.map(removedIn)), await removedIn('')]).toEqual([before, 2]);
    for (const query of ['', '&kind=removed'])
      expect((await walk(tenant, `${since}${query}`, 1)).map(({ id }) => id)).toEqual(['id1', 'id2']);
    await add(1, 3);
    const [summary, all] = [await summarise(tenant, since), await walk(tenant, since, 100)];
    for (const kind of kindNames)
      expect([kind, summary[kind]]).toEqual([kind, all.filter((change) => change.kind === kind).length]);
  });

  test('a walk from the newest change ends where it began, and its last token leads to what came meanwhile', async () => {
    const tenant = await newTenant();
    await load(tenant, [
      [1, {}],
      [2, {}],
      [3, {}],
    ]);
    const first = await read.changesOf(tenant, 'order=newest&size=2');
    expect([first.changes.map(({ id }) => id), first.has_more]).toEqual([['id3', 'id2'], true]);
    await load(tenant, [
      [4, {}],
      [2, { version: 1 }],
    ]);
    const last = await read.changesOf(tenant, `since=${first.next}&size=2`);
    expect([last.changes.map(({ id }) => id), last.has_more]).toEqual([['id1'], false]);
    const later = await read.changesOf(tenant, `since=${last.next}&size=5`);
    expect(later.changes.map(({ id }) => id)).toEqual(['id2', 'id4']);
    await expect(read.changesOf(tenant, `since=${first.next}&order=oldest`)).rejects.toMatchObject({
      code: 'INVALID_REQUEST_PARAMS',
    });
  });

  test('lists that are too long say what they leave out, and the counts stay exact', async () => {
    const tenant = await newTenant();
    const ids = Array.from({ length: listedMax.perImport + 3 }, (_, n) => n);
    await load(
      tenant,
      ids.map((n) => [n, {}] as const),
    );
    const token = await read.tokenNow(tenant);
    await load(
      tenant,
      ids.map((n) => [n, { status: `S${n}` }] as const),
      '0a',
    );
    for (const n of ids.slice(0, 3)) await load(tenant, [[n, { status: 'S99', product: `other-${n}` }]], `${n}b`);
    const summary = await summarise(tenant, `since=${token}`);
    expect(summary).toMatchObject({ changed: ids.length, omitted: { status: 0, import: 0 } });
    expect(summary.by.import.map(({ import_id: id }) => id)).toEqual(['2b', '1b', '0b', '0a']);
    const [, , , oldest] = summary.by.import;
    expect([oldest?.changed, oldest?.status.length, oldest?.omitted]).toEqual([ids.length - 3, listedMax.perImport, 0]);
    expect(summary.by['product-id']).toContainEqual({
      ...{ from: 'product-1', from_name: 'Europe 1 GB', to: 'other-0', to_name: 'Europe 1 GB', count: 1 },
    });
  });

  test('the most frequent transitions and the newest imports are listed first, and the others are counted', async () => {
    const tenant = await newTenant();
    const turn = (status: string, product: string, ids: readonly number[]) =>
      ids.map((n) => [n, { status, product }] as const);
    await load(tenant, turn('NEW', 'p-0', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    const base = await revisionOf(tenant);
    await load(tenant, turn('Z', 'p-9', [0, 1, 2, 3]), '0a');
    await load(tenant, turn('Y', 'p-8', [4, 5]), '1b');
    await load(tenant, [...turn('Y', 'p-8', [6]), ...turn('A', 'p-1', [7])], '1b');
    await load(tenant, turn('B', 'p-2', [8, 9]), '2c');
    const times = 'update subscription_commit set committed_at = revision where tenant_id = $1 returning revision';
    await store.writeTenant(tenant, [{ sql: times, values: [] }]);
    const max = { transitions: 1, imports: 2, perImport: 1 };
    const period = { after: { revision: base + 1, id: '' }, base };
    const counts = await store.readTenant(tenant, (reader) => summariseChanges(reader, period, days, max));
    expect(counts.status).toEqual({ listed: [{ from: 'NEW', to: 'Z', count: 4 }], others: 6 });
    expect(counts.products).toEqual({ listed: [{ from: 'p-0', to: 'p-9', count: 4 }], others: 6 });
    const imports = counts.imports.map(({ importId, firstSeconds, lastSeconds, status }) => ({
      ...{ importId, status, commits: [Number(firstSeconds) - base, Number(lastSeconds) - base] },
    }));
    expect(imports).toEqual([
      { importId: '2c', commits: [4, 4], status: { listed: [{ from: 'NEW', to: 'B', count: 2 }], others: 0 } },
      { importId: '1b', commits: [2, 3], status: { listed: [{ from: 'NEW', to: 'Y', count: 3 }], others: 1 } },
    ]);
    expect([counts.importCount, counts.kinds.changed]).toEqual([3, 10]);
  });

  test.each([
    ['', 'since'],
    ['since=now', 'since'],
    ['since=2999-01-01T00:00:00Z', 'since'],
    ['since=42', 'since'],
    ['since=2024-01-01T00:00:00Z&until=never', 'until'],
    ['since=2024-01-01T00:00:00Z&kind=added', 'kind'],
  ])('the query %j is rejected by the name of its parameter', (query, parameter) => {
    expect(() => parseChangesSummary(query, context)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST_PARAMS' }),
    );
    try {
      parseChangesSummary(query, context);
    } catch (error) {
      expect((error as { faults: readonly { parameter: string }[] }).faults[0]?.parameter).toBe(parameter);
    }
  });

  test('an end before its start is rejected, and a start that is not kept says where the history begins', async () => {
    const tenant = await newTenant();
    await load(tenant, [[1, {}]]);
    const start = await revisionOf(tenant);
    await load(tenant, [[1, { version: 1 }]]);
    const token = await read.tokenNow(tenant);
    await expect(summarise(tenant, `since=${token}&until=${start}`)).rejects.toMatchObject({
      code: 'INVALID_REQUEST_PARAMS',
    });
    const notKept = { code: 'HISTORY_NOT_KEPT' };
    await expect(summarise(tenant, 'since=2001-01-01T00:00:00Z')).rejects.toMatchObject(notKept);
    // a token of a revision that can no longer be read knows its changes, but not what they were
    await load(tenant, [[1, { version: 2 }]]);
    await store.writeDirectory([
      directoryStatement('update tenant set history_from = revision where id = $1', [tenant]),
    ]);
    await expect(summarise(tenant, `since=${token}`)).rejects.toMatchObject(notKept);
    for (const how of ['before=true', 'kind=added', 'kind=changed', 'field=status', 'import-id=none'])
      for (const order of ['oldest', 'newest'])
        await expect(read.changesOf(tenant, `since=${token}&order=${order}&${how}`)).rejects.toMatchObject(notKept);
    expect((await read.changesOf(tenant, `since=${token}`)).changes.map(({ id }) => id)).toEqual(['id1']);
    expect(await summarise(tenant, `since=${await read.tokenNow(tenant)}`)).toMatchObject({ total: 0 });
  });
});
