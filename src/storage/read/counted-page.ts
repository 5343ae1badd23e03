import type { Counts } from '../counts/counts.ts';
import { type FilterRange, rangeQuery } from '../counts/range.ts';
import type { OrderKey } from '../order-key.ts';
import type { ReadOptions, Row, SqlValue, Store, TenantId, TenantReader, TenantStatement } from '../store.ts';
import { binder, type SubscriptionFilter } from '../subscription-filter.ts';
import {
  beyondKeySql,
  type PageRecord,
  type PageStart,
  recordsQuery,
  reverse,
  type SubscriptionOrder,
} from './page-sql.ts';

/** Where a page begins: after `skip` records of the order, or just after or before a record. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly orderKey: OrderKey };

/** Records of one snapshot, and their total. */
export interface Page {
  /** In the requested order. */
  readonly records: readonly PageRecord[];
  /** All records of the filter. */
  readonly total: number;
  /**
   * Whether there is a record at or on the other side of the position's key; `false` for a position
   * without one.
   */
  readonly isBeyondKey: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/** The parts of the store that a page uses. */
export type PageStore = Pick<Store, 'readTenant' | 'readTenantOnce'>;

/** Which page is read, and how. */
interface PageQuery extends ReadOptions {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  readonly limit: number;
  /** Whether the counts must find the first record. */
  readonly isDeep: boolean;
}

/** Reads a page with some counts of its filter. */
export function readCountedPage(store: PageStore, tenant: TenantId, query: PageQuery, counts: Counts): Promise<Page> {
  const { position, order, isDeep } = query;
  if (position.kind !== 'offset')
    return readAtOnce(store, tenant, query, counts, () => ({ kind: 'beyond', orderKey: position.orderKey }));
  const { skip } = position;
  if (!isDeep)
    return readAtOnce(store, tenant, query, counts, () =>
      skip === 0 ? { kind: 'first' } : { kind: 'step', steps: skip },
    );
  const select = counts.selectFromEnd(order.descending);
  if (select === undefined) return readSelected(store, tenant, query, counts, skip);
  return readAtOnce(store, tenant, query, counts, () => {
    const leaf = select(skip);
    return leaf && { kind: 'leaf', leaf };
  });
}

/** Reads a page in one round trip; `findStart` returns `undefined` if there are no records. */
async function readAtOnce(
  store: PageStore,
  tenant: TenantId,
  query: PageQuery,
  counts: Counts,
  findStart: () => PageStart | undefined,
): Promise<Page> {
  const { filter, order, position, limit } = query;
  const isBack = position.kind === 'before';
  const head = headQuery(query, counts);
  const start = findStart();
  const body = start && recordsQuery(filter, isBack ? reverse(order) : order, start, limit);
  const statements = body === undefined ? [head] : [head, body];
  const [[headRow] = [], [bodyRow] = []] = await store.readTenantOnce(tenant, statements, query);
  const { total, isBeyondKey, revision } = head.toHead(headRow);
  const records = body?.toRecords(bodyRow) ?? [];
  return { records: isBack ? records.toReversed() : records, total, isBeyondKey, revision };
}

/** Reads a page whose first record the stored or cached tree finds by its rank. */
function readSelected(
  store: PageStore,
  tenant: TenantId,
  query: PageQuery,
  counts: Counts,
  skip: number,
): Promise<Page> {
  const { filter, order, limit } = query;
  const read = async (reader: TenantReader): Promise<Page> => {
    const head = headQuery(query, counts);
    const [[headRow], select] = await Promise.all([reader.all(head.sql, head.values), counts.openSelect(reader)]);
    const { start, total, isBeyondKey, revision } = head.toHead(headRow);
    const rank = order.descending ? start + total - 1 - skip : start + skip;
    const leaf = skip < total ? await select(rank) : undefined;
    if (leaf === undefined) return { records: [], total, isBeyondKey, revision };
    const body = recordsQuery(filter, order, { kind: 'leaf', leaf }, limit);
    const [bodyRow] = await (reader.last ?? reader.all)(body.sql, body.values);
    return { records: body.toRecords(bodyRow), total, isBeyondKey, revision };
  };
  return store.readTenant(tenant, read, query);
}

/** The statement of everything but the records, and the function that reads its row. */
interface HeadQuery extends TenantStatement {
  readonly toHead: (row: Row | undefined) => FilterRange & Omit<Page, 'records'>;
}

function headQuery({ filter, order, position }: PageQuery, counts: Counts): HeadQuery {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { columns, toRange } = rangeQuery(filter, counts, bind);
  const beyondKey =
    position.kind === 'offset'
      ? '0'
      : beyondKeySql(filter, position.kind === 'before' ? order : reverse(order), position.orderKey, bind);
  const sql = `select revision, ${columns}, ${beyondKey} as beyond_key
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return {
    sql,
    values,
    toHead: (row) => ({
      ...toRange(row),
      isBeyondKey: Number(row?.beyond_key ?? 0) > 0,
      revision: Number(row?.revision ?? 0),
    }),
  };
}
