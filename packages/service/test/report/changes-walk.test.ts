import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { changeKinds } from '../../../contract/history.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { directoryStatement, type Store, type TenantId } from '../../storage/store.ts';
import { historyStart } from '../../storage/tables/history.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';
import { idOf, replaceAll, rowOf, type VersionOf } from './history-records.ts';
import { type Change, readerOfPast } from './read-past.ts';

const drawn = drawOne(engines, import.meta.url);

// Walks through the changes with `before` or `kind`, between whose pages records change.
// `WALK_RUNS=2000` reads that many histories.

const runsGiven = Number(process.env.WALK_RUNS ?? 0);

const drawnRecords = fc.uniqueArray(fc.record({ n: fc.nat(6), version: fc.nat(2) }), {
  maxLength: 7,
  selector: ({ n }) => n,
});
const drawnIds = fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 4 });

/** A write, or one page of the client. */
const drawnStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('load' as const), records: drawnRecords }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), records: drawnRecords }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), ids: drawnIds }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), ids: drawnIds }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('read' as const), size: fc.integer({ min: 1, max: 3 }) }) },
);
type Step = typeof drawnStep extends fc.Arbitrary<infer T> ? T : never;

const drawnWalk = fc.record({
  kinds: fc.option(fc.subarray([...changeKinds], { minLength: 1 }), { nil: undefined }),
  before: fc.boolean(),
  order: fc.constantFrom('oldest', 'newest'),
  /** Whether the client has the report, and not nothing. */
  hasCopy: fc.boolean(),
  /** Of a list of all kinds: how many pages are read without `before` and `kind`. */
  plainPages: fc.constantFrom(0, 0, 1, 2),
});

/** A restored tenant has revisions of more than 32 bits. */
const asAfterRestore = `update tenant set revision = $1, swept_revision = $1, history_from = $1, history_revision = $1
  where id = $2`;

describe.each(drawn)('a walk through the changes on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let read: ReturnType<typeof readerOfPast>;
  let tenants = 0;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    const context: ReportContext = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: () => 1 };
    read = readerOfPast(context);
  });
  afterAll(() => opened.close());

  const newTenant = async (): Promise<TenantId> => {
    tenants += 1;
    const id = `walk-${tenants}`;
    await insertTenant(store, id, 1);
    if (tenants % 2 === 0)
      await store.writeDirectory([directoryStatement(asAfterRestore, [historyStart(1_700_000_000), id])]);
    return (await findTenant(store, id))?.tenant as TenantId;
  };
  const load = (tenant: TenantId, ...ids: readonly number[]) =>
    store.loadSubscriptions(
      tenant,
      ids.map((n) => rowOf({ n, version: 1 })),
    );
  const remove = (tenant: TenantId, ids: readonly number[]) => removeRecords(store, tenant, ids.map(idOf));

  /** The pages of a walk, from a token. */
  async function walk(tenant: TenantId, query: string, since: string) {
    const changes = await read.changesOf(tenant, `${query}&since=${since}`);
    return { ...changes, told: changes.changes.map(({ id, removed, kind }) => [id, kind ?? removed]) };
  }
  async function rest(tenant: TenantId, query: string, since: string) {
    const told: unknown[] = [];
    for (let token = since; ; ) {
      const page = await walk(tenant, query, token);
      told.push(...page.told);
      if (!page.has_more) return { told, next: page.next };
      token = page.next;
    }
  }

  test.each([
    { query: 'before=true', removed: 'removed' },
    { query: 'kind=added,removed', removed: true },
    { query: 'kind=added,changed,removed&before=true', removed: 'removed' },
  ])('of $query tells the removal of a record that an earlier page told as added', async ({ query, removed }) => {
    const tenant = await newTenant();
    await load(tenant, 1);
    const since = await read.tokenNow(tenant);
    await load(tenant, 4, 5);
    const first = await walk(tenant, `size=1&${query}`, since);
    expect(first.changes.map(({ id }) => id)).toEqual([idOf(4)]);
    await replaceAll(store, tenant, [{ n: 1, version: 1 }]);
    const { told, next } = await rest(tenant, query, first.next);
    expect(told).toEqual([[idOf(4), removed]]);
    expect((await rest(tenant, `size=1&${query}`, since)).told).toEqual([]);
    expect((await rest(tenant, `size=1&${query}`, next)).told).toEqual([]);
  });

  test('tells the removal of a record that the walk before it told as added', async () => {
    const tenant = await newTenant();
    const since = await read.tokenNow(tenant);
    await load(tenant, 4, 5);
    const { next } = await rest(tenant, 'size=1&before=true', since);
    await remove(tenant, [4, 5]);
    expect((await rest(tenant, 'size=1&before=true', next)).told).toEqual([
      [idOf(4), 'removed'],
      [idOf(5), 'removed'],
    ]);
  });

  test('of what was added and removed tells as added what has returned after it told the removal', async () => {
    const tenant = await newTenant();
    await load(tenant, 1, 2);
    const since = await read.tokenNow(tenant);
    await remove(tenant, [1, 2]);
    const query = 'size=1&before=true&kind=added,removed';
    const first = await walk(tenant, query, since);
    expect(first.told).toEqual([[idOf(1), 'removed']]);
    await load(tenant, 1, 2);
    expect((await rest(tenant, query, first.next)).told).toEqual([[idOf(1), 'added']]);
    expect((await rest(tenant, query, since)).told).toEqual([]);
  });

  test('from the newest change tells in the next walk what changed before it was read, by the same base', async () => {
    const tenant = await newTenant();
    const since = await read.tokenNow(tenant);
    await load(tenant, 1);
    await load(tenant, 2);
    const query = 'size=1&before=true&kind=added';
    const first = await walk(tenant, `${query}&order=newest`, since);
    expect(first.told).toEqual([[idOf(2), 'added']]);
    await store.loadSubscriptions(tenant, [rowOf({ n: 1, version: 2 })]);
    const { told, next } = await rest(tenant, query, first.next);
    expect(told).toEqual([]);
    expect((await rest(tenant, query, next)).told).toEqual([[idOf(1), 'added']]);
  });

  test('leads a copy to the report with each filter, whatever changes between its pages (property)', async () => {
    const run = fc.asyncProperty(
      drawnRecords,
      fc.array(drawnStep, { minLength: 4, maxLength: 24 }),
      drawnWalk,
      async (records, steps, { kinds, before, order, hasCopy, plainPages }) => {
        const tenant = await newTenant();
        const write = new Writer(store, tenant);
        await write.load(records);
        const client = { token: hasCopy ? await read.tokenNow(tenant) : undefined, pages: 0, copy: new Map() };
        if (hasCopy) for (const [id, text] of await report(tenant)) client.copy.set(id, text);
        const filter = `${before ? '&before=true' : ''}${kinds === undefined ? '' : `&kind=${kinds.join(',')}`}`;
        const readOnce = async (size: number) => {
          const isPlain = (kinds ?? changeKinds).length === changeKinds.length && client.pages < plainPages;
          const query = isPlain ? '' : `${filter}&order=${order}`;
          const since = client.token === undefined ? '' : `&since=${client.token}`;
          const page = await read.changesOf(tenant, `size=${size}${query}${since}`);
          client.pages += 1;
          client.token = page.next;
          for (const change of page.changes) {
            if (kinds !== undefined && before && query !== '') expect(kinds).toContain(change.kind);
            apply(client.copy, change);
          }
          return page.has_more;
        };
        for (const step of steps) {
          if (step.kind === 'read') await readOnce(step.size);
          else await write.take(step);
        }
        // a walk from the newest change ends where it began
        for (let quiet = 0; quiet < 2; ) if (!(await readOnce(2))) quiet += 1;
        const now = await report(tenant);
        const has = (kind: (typeof changeKinds)[number]) => kinds?.includes(kind) ?? true;
        const { copy } = client;
        if (has('removed')) for (const id of copy.keys()) expect([...now.keys()]).toContain(id);
        if (has('added')) for (const id of now.keys()) expect([...copy.keys()]).toContain(id);
        if (!has('changed')) return;
        for (const [id, text] of copy)
          if (now.has(id) && !write.isUnknown(id, has('removed'), has('added'))) expect(text).toBe(now.get(id));
      },
    );
    if (runsGiven === 0) return checkProperty(run, { least: 15, most: 150 });
    await fc.assert(run, { numRuns: runsGiven });
  });

  const report = async (tenant: TenantId): Promise<ReadonlyMap<string, string>> => {
    const { body } = await read.exported(tenant, 'format=ndjson');
    return new Map(
      body
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [(JSON.parse(line) as Change).id, line]),
    );
  };
});

/** Writes records, and knows which of them a list without additions or removals misses. */
class Writer {
  readonly #store: Store;
  readonly #tenant: TenantId;
  readonly #removed = new Set<string>();
  readonly #erased = new Set<string>();

  constructor(store: Store, tenant: TenantId) {
    [this.#store, this.#tenant] = [store, tenant];
  }

  load(records: readonly VersionOf[]) {
    return this.#store.loadSubscriptions(this.#tenant, records.map(rowOf));
  }

  async take(step: Exclude<Step, { kind: 'read' }>): Promise<void> {
    switch (step.kind) {
      case 'load':
        await this.load(step.records);
        return;
      case 'replace':
        for (let n = 0; n < 7; n += 1) if (!step.records.some((record) => record.n === n)) this.#removed.add(idOf(n));
        return replaceAll(this.#store, this.#tenant, step.records);
      case 'remove':
        for (const n of step.ids) this.#removed.add(idOf(n));
        await removeRecords(this.#store, this.#tenant, step.ids.map(idOf));
        return;
      case 'erase':
        for (const n of step.ids) this.#erased.add(idOf(n));
        await this.#store.deleteSubscriptions(this.#tenant, step.ids.map(idOf));
    }
  }

  /**
   * Whether a list without additions may leave out that a record has returned: because it was
   * erased, or because an earlier walk told its removal.
   */
  isUnknown(id: string, hasRemoved: boolean, hasAdded: boolean): boolean {
    if (hasAdded) return false;
    return this.#erased.has(id) || (!hasRemoved && this.#removed.has(id));
  }
}

/** Applies a change to a copy of the records' texts. */
function apply(copy: Map<string, string>, { kind: _kind, before: _before, ...change }: Change): void {
  const { committed_at: _at, import_id: _import, ...record } = change;
  if (record.removed) copy.delete(record.id);
  else copy.set(record.id, JSON.stringify(record));
}
