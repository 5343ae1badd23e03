import type { TenantReader } from '../store.ts';
import { and, type Bind, countedPart, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import { rankSql } from './rank.ts';
import { openSelect, type Select, selectSql } from './select.ts';
import type { LeafPosition, SpanList } from './span-list.ts';

/** The rows of a filter in the default order of all rows of its product and statuses. */
export interface FilterRange {
  /** Rank of the first one. */
  readonly start: number;
  /** How many there are. */
  readonly total: number;
}

/**
 * Rank and select among the rows of a filter's product and statuses. Only `range` and
 * `selectFromEnd` heed its bounds.
 */
export interface Counts {
  /** The rows of the filter, bounds included, if they are known without the store. */
  readonly range?: FilterRange | undefined;
  /** SQL of how many of the rows were created before a second. */
  rankSql(seconds: number, bind: Bind): string;
  /**
   * Finds the row after `skip` others, counted from the first or last row of the filter.
   * `undefined` if only the store knows where that row is.
   */
  selectFromEnd(descending: boolean): ((skip: number) => LeafPosition | undefined) | undefined;
  /**
   * SQL of `with` queries that find the leaf of a rank (`selectSql`): a round trip to PostgreSQL
   * costs more, and SQLite takes longer for them than for statements of their own.
   */
  selectSql?(rank: string, bind: Bind): string;
  /** Prepares to find rows by their rank. */
  openSelect(reader: TenantReader): Promise<Select>;
}

/** The counts of the stored tree, as of the statement that they are used in. */
export const storedCounts = (filter: SubscriptionFilter): Counts => ({
  rankSql: (seconds, bind) => rankSql(filter, seconds, bind),
  selectFromEnd: () => undefined,
  selectSql: (rank, bind) => selectSql(filter, rank, bind),
  openSelect: (reader) => openSelect(reader, filter),
});

/**
 * The counts of the leaves of the filter's tree, as of the list's revision. `rankOf` returns the
 * rank of a second if it is known; otherwise the store counts the rows of one leaf.
 */
export function rememberedCounts(
  filter: SubscriptionFilter,
  list: SpanList,
  rankOf: (seconds: number) => number | undefined,
): Counts {
  const { afterSeconds, beforeSeconds, statuses } = filter;
  const start = afterSeconds === undefined ? 0 : rankOf(afterSeconds + 1);
  const end = beforeSeconds === undefined ? list.rowsBefore(list.length, statuses) : rankOf(beforeSeconds);
  return {
    ...(start !== undefined && end !== undefined && { range: { start, total: Math.max(0, end - start) } }),
    rankSql(seconds, bind) {
      const index = list.leafAt(seconds);
      if (index < 0) return '0';
      const { from } = list.bounds(index);
      return `(cast(${bind(list.rowsBefore(index, statuses))} as bigint) + (
        select count(*) from subscription where tenant_id = $1${and(filterConditions(countedPart(filter), bind))}
          and (created_date, id) >= (${bind(from.date)}, ${bind(from.id)}) and created_date < ${bind(seconds)}
      ))`;
    },
    selectFromEnd(descending) {
      const from = descending ? end : start;
      if (from === undefined) return undefined;
      return (skip) => list.select(descending ? from - 1 - skip : from + skip, statuses);
    },
    openSelect: async () => async (rank) => list.select(rank, statuses),
  };
}
