import { leafSql, rankAfter, rankIn } from '../counts/range.ts';
import { selectSql } from '../counts/select.ts';
import { leafRowsAimed } from '../counts/span.ts';
import type { TenantId } from '../store.ts';
import {
  type Bind,
  countedFilter,
  hasList,
  hasOneCondition,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import { isByStatus, type PageQuery, type PageStart, type SubscriptionOrder } from './page-sql.ts';
import { type BoundedQuery, type Known, type Page, type PageStore, toPage, wholeQuery } from './page-statements.ts';
import type { RangeMemory } from './range-memory.ts';
import { readScanned } from './scanned-page.ts';

export interface PageContext {
  readonly store: PageStore;
  readonly ranges?: Pick<RangeMemory, 'find' | 'findLeaves' | 'note'> | undefined;
}

/**
 * Reads up to `size` records from a position, in the requested order (for a `before` position, the
 * nearest ones before it), and the total. With a filter that the counts know in the order of the
 * page (`countedFilter`), a page costs at most two to three times as much as page 1.
 */
export async function readPage({ store, ranges }: PageContext, tenant: TenantId, query: PageQuery): Promise<Page> {
  const { filter, order } = query;
  if (selectsOnlyOne(filter)) {
    const few = { ...query, isBounded: true, filter: { ...filter, recordsMax: sortedMax + 1 } };
    const page = await readWith(store, tenant, few, undefined);
    if (page.total <= sortedMax) return page;
  }
  const bounded = { ...query, isBounded: isBounded(filter, order) };
  const known = ranges?.find(tenant, query) ?? (await ranges?.findLeaves(store, tenant, query));
  if (known !== undefined) {
    const page = await readWith(store, tenant, bounded, known);
    if (page.revision === known.revision) {
      ranges?.note(tenant, query, page, known);
      return page;
    }
  }
  const page = await readWith(store, tenant, bounded, undefined);
  ranges?.note(tenant, query, page, undefined);
  return page;
}

/** Up to this many records are read and sorted on the main thread, in about a millisecond. */
const sortedMax = 500;

/**
 * Whether a filter selects one SIM, device or subscriber and nothing else, so that an index has
 * exactly its records.
 */
const selectsOnlyOne = (filter: SubscriptionFilter): boolean =>
  selectsOne(filter) && !hasList(filter) && hasOneCondition(filter);

/**
 * Whether a page and its total cost about the same for any number of records: an index has the
 * filter's records in the requested order, and the counts have the total and the first record. A
 * page of a product's records with a rare status may read all index entries of the product.
 */
function isBounded(filter: SubscriptionFilter, order: SubscriptionOrder): boolean {
  return countedFilter(filter, order.column) !== undefined && hasIndex(filter, order);
}

/**
 * Whether an index has exactly the records of a filter: in the order of the page, or as those of
 * one SIM, device or subscriber.
 */
function hasIndex(filter: SubscriptionFilter, order: SubscriptionOrder): boolean {
  if (selectsOne(filter) || isByStatus(filter, order)) return true;
  const { statuses, autoRenew } = filter;
  return statuses === undefined && autoRenew === undefined && countedFilter(filter, order.column) !== undefined;
}

/** Up to this many records, stepping from the first one costs no more than stepping in a leaf. */
const stepsMax = leafRowsAimed / 2;

/**
 * Reads a page with a known range, or with the counts; the caller compares the revision. The first
 * strategy whose condition holds:
 *
 * | condition | strategy | cost besides the page |
 * |---|---|---|
 * | no index has exactly the records | `readScanned` | entries of the cheapest index, up to all |
 * | a key, or one of the first records | one statement from there | up to `stepsMax` entries |
 * | a filter that the counts do not know | one statement | as many entries as it skips |
 * | others | one statement with `selectSql` | groups of the counts, half a leaf |
 */
function readWith(store: PageStore, tenant: TenantId, query: BoundedQuery, known: Known | undefined): Promise<Page> {
  const { filter, order, position } = query;
  if (!hasIndex(filter, order)) return readScanned(store, tenant, query, known);
  const from = (start: PageStart, of = filter): Promise<Page> =>
    readFrom(store, tenant, { ...query, filter: of }, start, known);
  if (position.kind !== 'offset') return from({ kind: 'beyond', orderKey: position.orderKey });
  const { skip } = position;
  const counted = countedFilter(filter, order.column);
  if (skip === 0) return from({ kind: 'first' });
  if (skip <= stepsMax || counted === undefined) return from({ kind: 'step', steps: skip });
  const place = { skip, descending: order.descending };
  const findLeaf = (bind: Bind): string => {
    if (known?.leaves !== undefined) return leafSql(counted, place, known.leaves, bind);
    const { range } = known ?? {};
    const rank =
      range === undefined ? rankAfter(counted, place, bind) : `cast(${bind(rankIn(range, place))} as bigint)`;
    return selectSql(counted, rank, bind);
  };
  return from({ kind: 'selected', leafSql: findLeaf }, counted);
}

/** Reads a page, with everything about it, in one statement. */
async function readFrom(
  store: PageStore,
  tenant: TenantId,
  query: BoundedQuery,
  start: PageStart,
  known: Known | undefined,
): Promise<Page> {
  const whole = wholeQuery(store, query, start, known);
  const [row] = await store.readTenantOnce(tenant, whole, query);
  return toPage(query, row, whole.toRecords(row), known);
}
