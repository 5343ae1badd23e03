import type { TenantReader } from '../store.ts';
import { and, type Bind, countedPart, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import { rankSql } from './rank.ts';
import { openSelect, type Select, selectSql } from './select.ts';
import type { LeafPosition, SpanList } from './span-list.ts';

/** Rank and select among the rows of a filter's product and statuses; dates are not looked at. */
export interface Counts {
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
 * The counts of the leaves of the filter's tree, as of the list's revision. A rank then only counts
 * the rows of one leaf in the store.
 */
export const rememberedCounts = (filter: SubscriptionFilter, list: SpanList): Counts => ({
  rankSql(seconds, bind) {
    const index = list.leafAt(seconds);
    if (index < 0) return '0';
    const { from } = list.bounds(index);
    return `(cast(${bind(list.rowsBefore(index, filter.statuses))} as bigint) + (
      select count(*) from subscription where tenant_id = $1${and(filterConditions(countedPart(filter), bind))}
        and (created_date, id) >= (${bind(from.date)}, ${bind(from.id)}) and created_date < ${bind(seconds)}
    ))`;
  },
  selectFromEnd(descending) {
    const bound = descending ? filter.beforeSeconds : filter.afterSeconds;
    if (bound !== undefined) return undefined;
    return (skip) => {
      const total = list.rowsBefore(list.length, filter.statuses);
      return list.select(descending ? total - 1 - skip : skip, filter.statuses);
    };
  },
  openSelect: async () => async (rank) => list.select(rank, filter.statuses),
});
