import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import { type Bind, binder, isCounted, rowsFrom, type SubscriptionFilter } from '../subscription-filter.ts';
import { type Counts, storedCounts } from './counts.ts';
import { totalSql } from './rank.ts';

/** The rows of a filter in the default order of all rows of its product and statuses. */
export interface FilterRange {
  /** Rank of the first one. */
  readonly start: number;
  /** How many there are. */
  readonly total: number;
}

/** Select expressions, and the function that reads their values from a row. */
interface RangeQuery {
  readonly columns: string;
  readonly toRange: (row: Row | undefined) => FilterRange;
}

/**
 * Reads the range of a filter: from the counts, at the same cost for any number of rows, or row by
 * row if the filter is not one that they know (`isCounted`).
 */
export async function readRange(reader: TenantReader, filter: SubscriptionFilter): Promise<FilterRange> {
  const values: SqlValue[] = [];
  const { columns, toRange } = rangeQuery(filter, storedCounts(filter), binder(values));
  // every column compares `tenant_id`
  const [row] = await reader.all(`select ${columns}` as TenantSql, values);
  return toRange(row);
}

/** How to select the range of a filter. */
export function rangeQuery(filter: SubscriptionFilter, counts: Counts, bind: Bind): RangeQuery {
  const [start, end] = isCounted(filter)
    ? rankEnds(filter, counts, bind)
    : ['0', `(select count(*) ${rowsFrom(filter, 'tenant_id', bind)})`];
  return {
    columns: `${start} as range_start, ${end} as range_end`,
    toRange(row) {
      const [first, beyond] = [Number(row?.range_start ?? 0), Number(row?.range_end ?? 0)];
      return { start: first, total: Math.max(0, beyond - first) };
    },
  };
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
