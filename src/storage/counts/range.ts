import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import { type Bind, binder, isCounted, rowsFrom, type SubscriptionFilter } from '../subscription-filter.ts';
import { type Counts, type FilterRange, storedCounts } from './counts.ts';
import { totalSql } from './rank.ts';

/**
 * Reads the range of a filter: from the counts, at the same cost for any number of rows, or row by
 * row if the filter is not one that they know (`isCounted`).
 */
export async function readRange(reader: TenantReader, filter: SubscriptionFilter): Promise<FilterRange> {
  const values: SqlValue[] = [];
  // every column compares `tenant_id`
  const sql = `select ${rangeColumns(filter, storedCounts(filter), binder(values))}` as TenantSql;
  const [row] = await reader.all(sql, values);
  return toRange(row);
}

/** Select expressions of the range of a filter; each is a single value. */
export function rangeColumns(filter: SubscriptionFilter, counts: Counts, bind: Bind): string {
  const [start, end] = isCounted(filter)
    ? rankEnds(filter, counts, bind)
    : ['0', `(select count(*) ${rowsFrom(filter, 'tenant_id', bind)})`];
  return `${start} as range_start, ${end} as range_end`;
}

/** Reads the values of `rangeColumns`. */
export function toRange(row: Row | undefined): FilterRange {
  const [start, end] = [Number(row?.range_start ?? 0), Number(row?.range_end ?? 0)];
  return { start, total: Math.max(0, end - start) };
}

const rankEnds = (filter: SubscriptionFilter, counts: Counts, bind: Bind): [start: string, end: string] => [
  startRank(filter, counts, bind),
  endRank(filter, counts, bind),
];

const startRank = ({ afterSeconds }: SubscriptionFilter, counts: Counts, bind: Bind): string =>
  afterSeconds === undefined ? '0' : counts.rankSql(afterSeconds + 1, bind);

const endRank = (filter: SubscriptionFilter, counts: Counts, bind: Bind): string =>
  filter.beforeSeconds === undefined ? totalSql(filter, bind) : counts.rankSql(filter.beforeSeconds, bind);

/** SQL of the rank of the row after `skip` others, counted from the first or last of a filter. */
export function rankAfter(
  filter: SubscriptionFilter,
  counts: Counts,
  { skip, descending }: { readonly skip: number; readonly descending: boolean },
  bind: Bind,
): string {
  const steps = `cast(${bind(skip)} as bigint)`;
  return descending
    ? `${endRank(filter, counts, bind)} - 1 - ${steps}`
    : `${startRank(filter, counts, bind)} + ${steps}`;
}
