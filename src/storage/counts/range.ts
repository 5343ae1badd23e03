import { endKey, type OrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantReader, TenantSql } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  countedPart,
  filterConditions,
  isCounted,
  type SubscriptionFilter,
} from '../subscription-filter.ts';
import { seriesOfProduct, wholeSeries } from './span.ts';
import type { SpanList, SpanPosition } from './span-list.ts';

/** Where the records of a filter lie in their default order. */
export interface FilterRange {
  /** How many records of the same product and statuses lie before the `after` bound. */
  readonly start: number;
  /** All records that the filter lets through. */
  readonly total: number;
}

/**
 * Counts the records that a filter lets through: from the kept counts where they can tell, at one
 * cost however many there are; else row by row.
 */
export async function readRange(reader: TenantReader, filter: SubscriptionFilter): Promise<FilterRange> {
  const values: SqlValue[] = [];
  const { start, end } = rangeSql(filter, binder(values));
  // the end always counts rows of the tenant
  const sql = `select ${start} as range_start, ${end} as range_end` as TenantSql;
  const [row] = await reader.all(sql, values);
  return toRange(row);
}

/** The range of a filter from a row that has `rangeSql` as `range_start` and `range_end`. */
export function toRange(row: Row | undefined): FilterRange {
  const [start, end] = [Number(row?.range_start ?? 0), Number(row?.range_end ?? 0)];
  return { start, total: Math.max(0, end - start) };
}

/**
 * Where the range of a filter begins and ends, as expressions: counts of the records before it, and
 * before what follows it. With the spans of the filter's series at hand, it is right at their
 * revision alone. Records that are counted one by one are counted up to `totalMax`.
 */
export function rangeSql(
  filter: SubscriptionFilter,
  bind: Bind,
  list?: SpanList,
  totalMax?: number,
): { readonly start: string; readonly end: string } {
  if (!isCounted(filter)) return { start: '0', end: countRows(filter, bind, totalMax) };
  const { afterSeconds, beforeSeconds } = filter;
  const upTo = (seconds: number): string =>
    list === undefined ? countBefore(filter, seconds, bind) : countFrom(list, filter, seconds, bind);
  return {
    start: afterSeconds === undefined ? '0' : upTo(afterSeconds + 1),
    end: beforeSeconds === undefined ? countAll(filter, bind) : upTo(beforeSeconds),
  };
}

/**
 * How many records of a filter's product and statuses each group of spans has, in order: one row of
 * text, as hundreds of rows would take longer.
 */
export async function readGroups(reader: TenantReader, filter: SubscriptionFilter): Promise<readonly number[]> {
  const values: SqlValue[] = [];
  const { series, n } = countedBy(filter, binder(values));
  const [row] = await reader.all(
    `select string_agg(cast(${n} as text), ' ' order by from_date, from_id) as numbers
    from subscription_span where tenant_id = $1 and ${series} and level = 1`,
    values,
  );
  return row?.numbers === null || row === undefined ? [] : String(row.numbers).split(' ').map(Number);
}

/**
 * Finds the span of the record with so many records of the filter's product and statuses before it;
 * `undefined` when there are not so many. `groups` are those of the filter. Sums are made here: a
 * window function took SQLite three times as long.
 */
export async function findSpan(
  reader: TenantReader,
  filter: SubscriptionFilter,
  groups: readonly number[],
  rank: number,
): Promise<SpanPosition | undefined> {
  const group = placeOf(groups, rank);
  if (group === undefined) return undefined;
  const spans = await readSpans(reader, filter, group.index);
  const place = placeOf(
    spans.map(({ n }) => n),
    group.rest,
  );
  const [span, next] = place === undefined ? [] : spans.slice(place.index);
  if (place === undefined || span === undefined) return undefined;
  return { from: span.key, until: next?.key ?? endKey, skip: place.rest, n: span.n };
}

/** Which of some numbers a rank falls into, and how far. */
function placeOf(numbers: readonly number[], rank: number): { index: number; rest: number } | undefined {
  let rest = rank;
  for (const [index, n] of numbers.entries()) {
    if (rest < n) return { index, rest };
    rest -= n;
  }
  return undefined;
}

/** The spans of a group by its place, and the first one of the next group, which ends the last. */
async function readSpans(
  reader: TenantReader,
  filter: SubscriptionFilter,
  group: number,
): Promise<readonly { readonly key: OrderKey; readonly n: number }[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { series, n } = countedBy(filter, bind);
  const edge = (place: number): string => `select from_date, coalesce(from_id, '') as at_id from subscription_span
      where tenant_id = $1 and ${series} and level = 1 order by from_date, from_id limit 1 offset ${bind(place)}`;
  const rows = await reader.all(
    `with first as (${edge(group)}), next as (${edge(group + 1)})
    select from_date, from_id, ${n} as n from subscription_span where tenant_id = $1 and ${series} and level = 0
      and (from_date, from_id) >= (select from_date, at_id from first)
      and (from_date, from_id) <= (coalesce((select from_date from next), ${endKey.date}), coalesce((select at_id from next), ''))
    order by from_date, from_id`,
    values,
  );
  return rows.map((row) => ({ key: { date: Number(row.from_date), id: String(row.from_id) }, n: Number(row.n) }));
}

/** All records of a filter's product and statuses: one row of counts. */
function countAll(filter: SubscriptionFilter, bind: Bind): string {
  const { series, n } = countedBy(filter, bind);
  return `coalesce((select ${n} from subscription_span where tenant_id = $1 and ${series} and level = 2), 0)`;
}

/**
 * How many records of a filter's product and statuses have a `createdDate` before a second: the
 * groups before it, the spans before it in its own group, and the rows before it in its own span,
 * which are at most `spanRowsMax`. Ids are made expressions, as SQLite uses a key of columns by its
 * date alone. The two keys are looked up where they are used, which costs no more than keeping them
 * in a table by `with`.
 */
function countBefore(filter: SubscriptionFilter, seconds: number, bind: Bind): string {
  const { series, n } = countedBy(filter, bind);
  const conditions = filterConditions(countedPart(filter), bind);
  const date = bind(seconds);
  const keyOf = (level: 0 | 1): string =>
    `(select from_date, coalesce(from_id, '') from subscription_span where tenant_id = $1 and ${series} and level = ${level}
      and (from_date, from_id) <= (${date}, '') order by from_date desc, from_id desc limit 1)`;
  return `((
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and ${series} and level = 1
        and (from_date, from_id) < ${keyOf(1)}
    ) + (
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and ${series} and level = 0
        and (from_date, from_id) >= ${keyOf(1)} and (from_date, from_id) < ${keyOf(0)}
    ) + (
      select count(*) from subscription where tenant_id = $1${and(conditions)}
        and (created_date, id) >= ${keyOf(0)} and (created_date, id) < (${date}, '')
    ))`;
}

/** The same from spans at hand: only the rows before the second in its own span are counted. */
function countFrom(list: SpanList, filter: SubscriptionFilter, seconds: number, bind: Bind): string {
  const index = list.indexOf(seconds);
  if (index < 0) return '0';
  const { from } = list.bounds(index);
  return `(cast(${bind(list.before(index, filter.statuses))} as bigint) + (
      select count(*) from subscription where tenant_id = $1${and(filterConditions(countedPart(filter), bind))}
        and (created_date, id) >= (${bind(from.date)}, ${bind(from.id)}) and (created_date, id) < (${bind(seconds)}, '')
    ))`;
}

function countRows(filter: SubscriptionFilter, bind: Bind, totalMax: number | undefined): string {
  const rows = `from subscription where tenant_id = $1${and(filterConditions(filter, bind))}`;
  if (totalMax === undefined) return `(select count(*) ${rows})`;
  return `(select count(*) from (select 1 as one ${rows} limit ${bind(totalMax)}) as counted)`;
}

/** The series that a filter is counted in. */
export const seriesOfFilter = ({ productId }: SubscriptionFilter): string =>
  productId === undefined ? wholeSeries : seriesOfProduct(productId);

/**
 * Which spans count a filter's product and statuses: the condition on their series, and the
 * expression of their matching rows.
 */
function countedBy(filter: SubscriptionFilter, bind: Bind): { series: string; n: string } {
  const { statuses } = filter;
  const series = `series = ${bind(seriesOfFilter(filter))}`;
  if (statuses === undefined) return { series, n: 'n' };
  const each = [...new Set(statuses)].map(
    (status) => `coalesce(cast(statuses ->> cast(${bind(status)} as text) as bigint), 0)`,
  );
  return { series, n: each.join(' + ') };
}
