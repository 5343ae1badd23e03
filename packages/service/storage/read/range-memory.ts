import { LRUCache } from 'lru-cache';
import { countsSql, type Leaf } from '../counts/range.ts';
import { type SpanLevel, spanLevel } from '../counts/span.ts';
import type { OrderKey } from '../order-key.ts';
import type { SqlValue, TenantId, TenantSql } from '../store.ts';
import { binder, countedFilter, countedPart, type SubscriptionFilter } from '../subscription-filter.ts';
import type { PageQuery } from './page-sql.ts';
import { type Known, type Page, type PageStore, revisionColumn } from './page-statements.ts';

/** A tree, as the rows of a filter's `countedPart` are counted in it. */
interface KnownTree extends Known {
  /** Pages that were read without its leaves at this revision. */
  readonly pages: number;
  /** The greatest end of their ranges: the tree has at least so many rows. Infinite if too many. */
  readonly rows: number;
}

/** Bytes in memory: of a range besides its key, and of a leaf besides its id. */
const [rangeBytes, leafBytes] = [200, 140];

/** The most rows of a tree whose leaves are read, which takes 2 ms. */
const treeRowsMax = 500_000;
/** Rows of a tree whose leaves take as long to read as they save on one page. */
const treeRowsPerPage = 80_000;

/**
 * Remembers the range of each filter, and where the page after each page begins, so that a query
 * that recurs and the next page of a walk need no counts from the store; and the leaves of trees,
 * so that new bounds need only count the rows of one leaf each. Nothing in it is trusted on its
 * own: a page returns the revision that it was read at, and is read again with the counts if that
 * is another one. A place is found by the key, filter and order of its page, so a forged cursor
 * finds none.
 */
export class RangeMemory {
  readonly #ranges = new LRUCache<string, Known>({
    max: 20_000,
    maxSize: 4_194_304,
    sizeCalculation: (_range, key) => 2 * key.length + rangeBytes,
  });
  readonly #trees = new LRUCache<string, KnownTree>({
    maxSize: 4_194_304,
    sizeCalculation: ({ leaves }, key) =>
      (leaves?.all ?? []).reduce((sum, { from }) => sum + leafBytes + from.id.length, 2 * key.length + rangeBytes),
  });

  find(tenant: TenantId, { filter, order, position }: PageQuery): Known | undefined {
    const place =
      position.kind === 'after' ? this.#ranges.get(placeKey(tenant, filter, order, position.orderKey)) : undefined;
    if (place !== undefined) return place;
    const known = this.#ranges.get(rangeKey(tenant, filter));
    if (known?.range === undefined || position.kind !== 'offset') return known;
    return { ...known, range: { ...known.range, passed: position.skip } };
  }

  /** Finds the leaves of a filter; reads them once some pages were read without them. */
  async findLeaves(store: PageStore, tenant: TenantId, { filter, order }: PageQuery): Promise<Known | undefined> {
    const counted = countedFilter(filter, order.column);
    if (counted === undefined) return undefined;
    const key = treeKey(tenant, counted);
    const tree = this.#trees.get(key);
    if (tree === undefined || tree.leaves !== undefined) return tree;
    if (tree.rows > treeRowsMax || tree.pages <= tree.rows / treeRowsPerPage) return undefined;
    const found = await readLeaves(store, tenant, counted);
    this.#trees.set(key, { ...tree, ...(found ?? { rows: Infinity }) });
    return found;
  }

  /** Notes what was not known of a page, and where the page after it begins. */
  note(tenant: TenantId, { filter, order }: PageQuery, page: Page, known: Known | undefined): void {
    const { records, start, total, revision, passed, hasMore } = page;
    if (known?.range === undefined) this.#ranges.set(rangeKey(tenant, filter), { revision, range: { start, total } });
    const counted = known === undefined ? countedFilter(filter, order.column) : undefined;
    if (counted !== undefined) {
      const key = treeKey(tenant, counted);
      const tree = this.#trees.peek(key);
      const same = tree?.revision === revision ? tree : undefined;
      const rows = Math.max(same?.rows ?? 0, start + total);
      this.#trees.set(key, { ...same, revision, pages: (same?.pages ?? 0) + 1, rows });
    }
    if (passed === undefined || records.last === undefined || !hasMore) return;
    const range = { start, total, passed: passed + records.count };
    this.#ranges.set(placeKey(tenant, filter, order, records.last), { revision, range });
  }
}

/** Reads the leaves of a tree that is not too large as one string: faster than hundreds of rows. */
async function readLeaves(store: PageStore, tenant: TenantId, filter: SubscriptionFilter): Promise<Known | undefined> {
  const values: SqlValue[] = [];
  const { series, n } = countsSql(filter, binder(values));
  const spans = (level: SpanLevel) =>
    `subscription_span where tenant_id = $1 and series = ${series} and level = ${level}`;
  const lines = `select cast(${n} as text) || ' ' || cast(from_date as text) || ' ' || from_id as leaf from ${spans(spanLevel.leaf)}`;
  const sql = `select case when (select n from ${spans(spanLevel.root)}) <= ${treeRowsMax} then (
      select string_agg(leaf, '\n') from (${lines} order by from_date, from_id) as lines) end as leaves, ${revisionColumn}` as TenantSql;
  const [row] = await store.readTenantOnce(tenant, { sql, values }, { isBounded: true });
  if (typeof row?.leaves !== 'string') return undefined;
  let total = 0;
  const all = row.leaves.split('\n').map((line): Leaf => {
    const [rows, date, id = ''] = line.split(' ');
    const rank = total;
    total += Number(rows);
    return { from: { date: Number(date), id }, rank };
  });
  return { revision: Number(row.revision), leaves: { all: all as [Leaf, ...Leaf[]], total } };
}

const treeKey = (tenant: TenantId, filter: SubscriptionFilter): string => JSON.stringify([tenant, countedPart(filter)]);

const placeKey = (
  tenant: TenantId,
  filter: PageQuery['filter'],
  order: PageQuery['order'],
  { date, id }: OrderKey,
): string => JSON.stringify([tenant, filter, order, date, id]);

const rangeKey = (tenant: TenantId, filter: PageQuery['filter']): string => JSON.stringify([tenant, filter]);
