import type { OrderKey } from '../order-key.ts';
import type { Row, SqlValue, Store, TenantId, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  countedFilter,
  countedPart,
  filterConditions,
  rowsFrom,
  type SubscriptionFilter,
} from '../subscription-filter.ts';
import { countSql, seriesOfFilter, spanLevel, wholeSeries } from './span.ts';

/** The rows of a filter in the order of its date, among all rows of its `countedPart`. */
export interface FilterRange {
  /** Rank of the first one; 0 for a filter that the counts do not know (`countedFilter`). */
  readonly start: number;
  /** How many there are. */
  readonly total: number;
}

/**
 * Reads the range of a filter: from the counts, at the same cost for any number of rows, or row by
 * row if the filter is not one that they know (`countedFilter`).
 */
export async function readRange(reader: TenantReader, filter: SubscriptionFilter): Promise<FilterRange> {
  const values: SqlValue[] = [];
  // every column compares `tenant_id`
  const sql = `select ${rangeColumns(filter, binder(values))}` as TenantSql;
  const [row] = await reader.all(sql, values);
  return toRange(row);
}

/** Select expressions of the range of a filter; each is a single value, with a name of its own. */
export function rangeColumns(filter: SubscriptionFilter, bind: Bind, name = 'range', leaves?: Leaves): string {
  const counted = countedFilter(filter);
  const [start, end] =
    counted === undefined
      ? ['0', `(select count(*) ${rowsFrom(filter, 'tenant_id', bind)})`]
      : [startRank(counted, bind, leaves), endRank(counted, bind, leaves)];
  return `${start} as ${name}_start, ${end} as ${name}_end`;
}

/** Reads the values of `rangeColumns`. */
export function toRange(row: Row | undefined, name = 'range'): FilterRange {
  const [start, end] = [Number(row?.[`${name}_start`] ?? 0), Number(row?.[`${name}_end`] ?? 0)];
  return { start, total: Math.max(0, end - start) };
}

/** The number of a tenant's records, from the root of its counts: one row, however many records. */
export async function countRecords(store: Store, tenant: TenantId): Promise<number> {
  const sql = `select n from subscription_span
    where tenant_id = $1 and series = '${wholeSeries}' and level = ${spanLevel.root}` as const;
  const [row] = await store.readTenantOnce(tenant, { sql, values: [] }, { isBounded: true });
  return Number(row?.n ?? 0);
}

/** A row of a filter: after `skip` others, counted from its first or its last row. */
interface RowPlace {
  readonly skip: number;
  readonly descending: boolean;
}

export const rankIn = ({ start, total }: FilterRange, { skip, descending }: RowPlace): number =>
  descending ? start + total - 1 - skip : start + skip;

/** SQL of the rank of a row of a filter whose range is not known. */
export function rankAfter(filter: SubscriptionFilter, { skip, descending }: RowPlace, bind: Bind): string {
  const steps = `cast(${bind(skip)} as bigint)`;
  return descending ? `${endRank(filter, bind)} - 1 - ${steps}` : `${startRank(filter, bind)} + ${steps}`;
}

/** SQL of the counts of a filter: the series, and a span's rows of its `countedPart`. */
export function countsSql(filter: SubscriptionFilter, bind: Bind) {
  const countOf = (key: string): string => `coalesce(cast(counts ->> cast(${bind(key)} as text) as bigint), 0)`;
  return { series: bind(seriesOfFilter(filter)), n: countSql(filter, countOf) };
}

/** A leaf: where it begins, and the rank of its first row. */
export interface Leaf {
  readonly from: OrderKey;
  readonly rank: number;
}

/** All leaves of a tree; at least one. */
export interface Leaves {
  readonly all: readonly [Leaf, ...Leaf[]];
  /** The rows of all. */
  readonly total: number;
}

/** The rank of a second in known leaves: that of its leaf, and SQL of the rows before it there. */
function rankAt(filter: SubscriptionFilter, seconds: number, { all }: Leaves, bind: Bind) {
  const begins = ({ from: { date, id } }: Leaf): boolean => date < seconds || (date === seconds && id === '');
  const { from, rank } = all.findLast(begins) ?? all[0];
  return { rank, rest: rowsBeforeSql(filter, seconds, `(${bind(from.date)}, ${bind(from.id)})`, bind) };
}

/**
 * SQL like the last `with` query of `selectSql`, for known leaves. Only the statement counts the
 * rows before a bound in its leaf, so this is the leaf of the least rank that the row can have.
 */
export function leafSql(filter: SubscriptionFilter, place: RowPlace, leaves: Leaves, bind: Bind): string {
  const { beforeSeconds, afterSeconds } = filter;
  const first = afterSeconds === undefined ? undefined : afterSeconds + 1;
  const bound = place.descending ? beforeSeconds : first;
  const unbounded = { rank: place.descending ? leaves.total : 0, rest: '0' };
  const { rank: start, rest } = bound === undefined ? unbounded : rankAt(filter, bound, leaves, bind);
  const least = rankIn({ start, total: 0 }, place);
  const { from, rank } = leaves.all.findLast((leaf) => leaf.rank <= least) ?? leaves.all[0];
  return `leaf as (select from_date, from_id, rest from (select cast(${bind(from.date)} as bigint) as from_date,
      cast(${bind(from.id)} as text) as from_id, cast(${bind(least - rank)} as bigint) + ${rest} as rest) as known where rest >= 0)`;
}

const startRank = (filter: SubscriptionFilter, bind: Bind, leaves?: Leaves): string =>
  filter.afterSeconds === undefined ? '0' : rankSql(filter, filter.afterSeconds + 1, bind, leaves);

const endRank = (filter: SubscriptionFilter, bind: Bind, leaves?: Leaves): string =>
  filter.beforeSeconds === undefined ? totalSql(filter, bind) : rankSql(filter, filter.beforeSeconds, bind, leaves);

/** SQL of how many rows a filter has without its bounds: one read of the root. */
function totalSql(filter: SubscriptionFilter, bind: Bind): string {
  const { series, n } = countsSql(filter, bind);
  return `coalesce((select ${n} from subscription_span where tenant_id = $1 and series = ${series} and level = ${spanLevel.root}), 0)`;
}

/**
 * SQL of the rank of a second: how many rows of a filter's `countedPart` have an earlier date. Adds
 * up the groups before it, the leaves before it in its own group, and the rows before it in its
 * own leaf, at most `leafRowsMax`. SQLite would compare a row value of two columns by its date
 * alone, so ids are expressions. It also compares row values again for each row that it counts,
 * which the date alone avoids. Looking the two keys up where they are used costs no more than a
 * `with` clause. With known leaves, only the rows of one are left to count.
 */
function rankSql(filter: SubscriptionFilter, seconds: number, bind: Bind, leaves?: Leaves): string {
  if (leaves !== undefined) {
    const { rank, rest } = rankAt(filter, seconds, leaves, bind);
    return `(cast(${bind(rank)} as bigint) + ${rest})`;
  }
  const { series, n } = countsSql(filter, bind);
  const date = bind(seconds);
  const { leaf, group } = spanLevel;
  const keyAt = (level: typeof leaf | typeof group): string =>
    `(select from_date, coalesce(from_id, '') from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) <= (${date}, '') order by from_date desc, from_id desc limit 1)`;
  return `((
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and series = ${series} and level = ${group}
        and (from_date, from_id) < ${keyAt(group)}
    ) + (
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and series = ${series} and level = ${leaf}
        and (from_date, from_id) >= ${keyAt(group)} and (from_date, from_id) < ${keyAt(leaf)}
    ) + ${rowsBeforeSql(filter, seconds, keyAt(leaf), bind)})`;
}

/** SQL of the rows of a filter's `countedPart` from the key of a leaf until before a second. */
function rowsBeforeSql(filter: SubscriptionFilter, seconds: number, key: string, bind: Bind): string {
  const { dateColumn, productId } = filter;
  // a planner may take the index of statuses for narrower than these rows
  const index = productId === undefined ? dateColumn : 'product_id';
  const conditions = filterConditions({ ...countedPart(filter), index }, bind);
  return `(select count(*) from subscription where tenant_id = $1${and(conditions)}
      and (${dateColumn}, id) >= ${key} and ${dateColumn} < ${bind(seconds)})`;
}
