import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  type DateColumn,
  filterConditions,
  type SubscriptionFilter,
} from '../subscription-filter.ts';

/** Days or months of a date. */
export interface SummaryBucket {
  readonly dateColumn: DateColumn;
  /** The UTC epoch second at which the day or month of a second begins. */
  readonly startOf: (seconds: number) => number;
  /** The start of the next day or month, from the start of one. */
  readonly next: (start: number) => number;
}

/** Conditions of a filter whose columns the index of a date has after the date. */
const indexedWith: Readonly<Record<DateColumn, readonly string[]>> = {
  created_date: ['planId', 'autoRenew'],
  activation_date: [],
  expiration_date: ['autoRenew'],
};

/** Whether one index has the date and all columns that the filter compares. */
export function hasBucketIndex(filter: SubscriptionFilter, dateColumn: DateColumn): boolean {
  const { dateColumn: bounded, afterSeconds, beforeSeconds, ...conditions } = filter;
  const isBounded = afterSeconds !== undefined || beforeSeconds !== undefined;
  if (isBounded && bounded !== dateColumn) return false;
  return Object.keys(conditions).every((name) => indexedWith[dateColumn].includes(name));
}

/**
 * Counts the records of a filter by day or month, each as one range of an index (`hasBucketIndex`).
 * Days and months without a record are skipped. Counting a range takes a tenth of the time of
 * `group by`, which computes the day of each entry.
 */
export async function countBuckets(
  reader: TenantReader,
  filter: SubscriptionFilter,
  { dateColumn, startOf, next }: SummaryBucket,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  const { beforeSeconds: last = Number.POSITIVE_INFINITY } = filter;
  let date = await readFirstDate(reader, filter, dateColumn);
  while (date !== undefined) {
    const start = startOf(date);
    const end = next(start);
    const { n, following } = await countRange(reader, filter, dateColumn, date, Math.min(end, last));
    if (n > 0) counts.set(start, n);
    date = following;
  }
  return counts;
}

/** The rows from one date until before another, and the next date within the filter's bounds. */
async function countRange(
  reader: TenantReader,
  filter: SubscriptionFilter,
  dateColumn: DateColumn,
  from: number,
  until: number,
): Promise<{ readonly n: number; readonly following: number | undefined }> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const range = { ...filter, dateColumn, afterSeconds: from - 1, beforeSeconds: until };
  // both subqueries compare `tenant_id`
  const [row] = await reader.all(
    `select (select count(*) from subscription where tenant_id = $1${and(filterConditions(range, bind))}) as n,
      (${firstDateSql({ ...filter, afterSeconds: until - 1 }, dateColumn, bind)}) as date` as TenantSql,
    values,
  );
  return { n: Number(row?.n ?? 0), following: dateIn(row) };
}

async function readFirstDate(
  reader: TenantReader,
  filter: SubscriptionFilter,
  dateColumn: DateColumn,
): Promise<number | undefined> {
  const values: SqlValue[] = [];
  const [row] = await reader.all(`${firstDateSql(filter, dateColumn, binder(values))}` as TenantSql, values);
  return dateIn(row);
}

/** Without the conditions after the date, one step in the index finds the first date. */
function firstDateSql(filter: SubscriptionFilter, dateColumn: DateColumn, bind: Bind): string {
  const { autoRenew: _autoRenew, planId: _planId, ...others } = filter;
  const conditions = filterConditions({ ...others, dateColumn }, bind);
  return `select ${dateColumn} as date from subscription where tenant_id = $1${and(conditions)} order by ${dateColumn}, id limit 1`;
}

const dateIn = (row: Row | undefined): number | undefined =>
  row === undefined || row.date === null || row.date === undefined ? undefined : Number(row.date);
