import type { OrderKey } from '../order-key.ts';
import type { Row, SqlValue, Store, TenantSql, TenantStatement } from '../store.ts';
import {
  and,
  type Bind,
  binder,
  countedFilter,
  countedPart,
  type DateColumn,
  dateOfIndex,
  rowsFrom,
  type Scan,
  type SubscriptionFilter,
  unindexedStatus,
} from '../subscription-filter.ts';
import { type Layout, selectUtf8, utf8Of } from '../utf8-column.ts';

/** A total order: by a date, then by id, both in the same direction. */
export interface SubscriptionOrder {
  readonly column: DateColumn;
  readonly descending: boolean;
}

export const reverse = (order: SubscriptionOrder): SubscriptionOrder => ({ ...order, descending: !order.descending });

/** Where a page begins: after `skip` records of the order, or just after or before a record. */
export type PagePosition =
  | { readonly kind: 'offset'; readonly skip: number }
  | { readonly kind: 'after' | 'before'; readonly orderKey: OrderKey };

/** Which page is read. */
export interface PageQuery {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  /** The most records of the page. */
  readonly size: number;
  readonly layout: Layout;
}

/** A page, with the index that is read for it. */
export interface ScannedQuery extends PageQuery {
  readonly filter: Scan;
}

export type PageStart =
  | { readonly kind: 'first' }
  /** The first one beyond a key, or at it. */
  | { readonly kind: 'beyond'; readonly orderKey: OrderKey; readonly isKeyItself?: boolean }
  /** The one after `steps` others, counted from the first or the last one of the page's order. */
  | { readonly kind: 'step'; readonly steps: number; readonly isReversed?: boolean }
  /** The one that `with` queries find (`selectSql`). */
  | { readonly kind: 'selected'; readonly leafSql: (bind: Bind) => string };

export interface PageRecords {
  /** Their JSON in the requested layout, or nothing. It may be a part of a larger buffer. */
  readonly bytes: Buffer;
  readonly count: number;
  /** Order keys of the first and of the last one, if there are any. */
  readonly first?: OrderKey;
  readonly last?: OrderKey;
}

export const noRecords: PageRecords = { bytes: Buffer.alloc(0), count: 0 };

/** Which records are read, and how they are returned. */
interface WantedRecords {
  readonly filter: Scan;
  readonly order: SubscriptionOrder;
  readonly start: PageStart;
  readonly limit: number;
  /** Whether the records are returned in the reverse of the order in which they are read. */
  readonly isReversed: boolean;
  readonly layout: Layout;
  /** More columns that the statement returns. */
  readonly columns?: ((bind: Bind) => string) | undefined;
}

/** A statement that reads records, and the function that reads its row. */
export interface RecordsQuery extends TenantStatement {
  readonly toRecords: (row: Row | undefined) => PageRecords;
}

/**
 * Reads up to `limit` records in an order from a start as one row, which costs this process less
 * than a row for each. Ids contain no line feed.
 */
export function recordsQuery(engine: Store['engine'], wanted: WantedRecords): RecordsQuery {
  const { filter, order, start, limit, isReversed, layout, columns } = wanted;
  const values: SqlValue[] = [];
  const bind = binder(values);
  const page = pageSql(filter, order, start, limit, bind);
  const returned = isReversed ? reverse(order) : order;
  const ordered = isReversed
    ? `select date, id, record from (${page}) as nearest order by ${orderBy('date', returned.descending)}`
    : page;
  const sql = `select ${selectUtf8(engine, layout)},
    min(date) as least_date, max(date) as greatest_date, string_agg(id, '\n') as ids${columns === undefined ? '' : `, ${columns(bind)}`}
    from (${ordered}) as page`;
  return {
    sql: sql as TenantSql,
    values,
    toRecords(row) {
      if (row === undefined || typeof row.ids !== 'string') return noRecords;
      const ids = row.ids.split('\n');
      const dates = [Number(row.least_date), Number(row.greatest_date)];
      const [first = 0, last = 0] = returned.descending ? dates.reverse() : dates;
      return {
        bytes: utf8Of(engine, row, layout),
        count: ids.length,
        first: { date: first, id: ids[0] ?? '' },
        last: { date: last, id: ids.at(-1) ?? '' },
      };
    },
  };
}

/** SQL of how many records, counted up to `most`, are beyond a key in an order, or from it on. */
export function countBeyondSql(
  filter: Scan,
  order: SubscriptionOrder,
  start: PageStart & { readonly kind: 'beyond' },
  most: number,
  bind: Bind,
): string {
  const { rows } = beginOf({ filter, order, bind }, start);
  return `(select count(*) from (select 1 as one from (${rowsSql('id', rows)} limit ${bind(most)}) as keys) as counted)`;
}

/** SQL that reads `date`, `id` and `record` of up to `limit` records in an order from a start. */
function pageSql(filter: Scan, order: SubscriptionOrder, start: PageStart, limit: number, bind: Bind): string {
  if (filter.index !== undefined) return foundSql({ filter, order, bind }, start, limit);
  const { queries, rows } = beginOf({ filter, order, bind }, start);
  return `${queries.length === 0 ? '' : `with ${queries.join(', ')} `}${rowsSql('id, record', rows)} limit ${bind(limit)}`;
}

/** A subquery, because PostgreSQL might join by reading the whole table. */
export const recordOfFound = '(select record from subscription as s where s.tenant_id = $1 and s.id = found.id)';

/**
 * SQL of the same page as a scan: finds the keys in an index that has all columns of the filter,
 * sorts them unless the index is in the requested order, and then reads the records of the page.
 */
function foundSql(scan: OrderedScan, start: PageStart, limit: number): string {
  const { order, bind } = scan;
  const [from, steps] = start.kind === 'step' ? [{ kind: 'first' } as const, start.steps] : [start, 0];
  const { queries, rows } = beginOf(scan, from);
  const keys = `${rowsSql('id', rows)} limit ${bind(limit)}${steps === 0 ? '' : ` offset ${bind(steps)}`}`;
  return `with ${[...queries, `found as materialized (${keys})`].join(', ')}
    select date, id, ${recordOfFound} as record from found order by ${orderBy('date', order.descending)}`;
}

/** The rows of a filter in an order. */
interface OrderedScan {
  readonly filter: Scan;
  readonly order: SubscriptionOrder;
  readonly bind: Bind;
}

interface Rows extends OrderedScan {
  /** Conditions in addition to the filter's. */
  readonly range: readonly string[];
}

/** The rows from a start on, and the `with` queries that find it. */
interface Begin {
  readonly queries: readonly string[];
  readonly rows: Rows;
}

/**
 * How the first row of each start is found.
 *
 * | start | stepped over, by an offset in an index | the page's rows are |
 * |---|---|---|
 * | first | | all |
 * | beyond | | those beyond the key |
 * | step | rows of the filter | those from the row that is reached |
 * | selected | rows of the leaf that a `with` query selects | the same |
 */
const begins: {
  readonly [Kind in PageStart['kind']]: (start: PageStart & { readonly kind: Kind }, scan: OrderedScan) => Begin;
} = {
  first: (_start, scan) => ({ queries: [], rows: { ...scan, range: [] } }),
  beyond({ orderKey, isKeyItself = false }, scan) {
    const sign = `${scan.order.descending ? '<' : '>'}${isKeyItself ? '=' : ''}`;
    const range = [`(${orderedColumn(scan)}, id) ${sign} (${scan.bind(orderKey.date)}, ${scan.bind(orderKey.id)})`];
    return { queries: [], rows: { ...withoutFirstBound(scan), range } };
  },
  step: ({ steps }, scan) => fromReached(scan, [], { ...scan, range: [] }, scan.bind(steps)),
  selected({ leafSql }, scan) {
    const range = [`(${scan.order.column}, id) >= (select from_date, coalesce(from_id, '') from leaf)`];
    // the counts of a leaf ignore the bounds of the filter, and so do the steps in it
    const rows = { ...scan, filter: countedPart(scan.filter), order: { ...scan.order, descending: false }, range };
    return fromReached(scan, [leafSql(scan.bind)], rows, 'coalesce((select rest from leaf), 0)');
  },
};

function beginOf(scan: OrderedScan, start: PageStart): Begin {
  // a forged cursor may be outside the first bound
  const from = start.kind === 'beyond' && !isInside(scan, start.orderKey) ? ({ kind: 'first' } as const) : start;
  const find = begins[from.kind] as (start: PageStart, scan: OrderedScan) => Begin;
  return find(from, scan);
}

/**
 * The rows from the one on that is reached by steps over others. The query of the steps reads an
 * index only: with an `offset` in the statement of the page, SQLite would also read the JSON of
 * each record that it skips. The id is an expression, as SQLite would search for a key of two
 * columns by its date alone.
 */
function fromReached(scan: OrderedScan, queries: readonly string[], stepped: Rows, steps: string): Begin {
  const reached = `${rowsSql('id', stepped)} limit ${scan.bind(1)} offset ${steps}`;
  const range = [
    `(${orderedColumn(scan)}, id) ${scan.order.descending ? '<' : '>'}= (select date, at_id from begin_at)`,
  ];
  return {
    queries: [...queries, `begin_at as (select date, coalesce(id, '') as at_id from (${reached}) as stepped)`],
    rows: { ...withoutFirstBound(scan), range },
  };
}

/** SQL of all rows of a filter in an order, with their date and other columns. */
export const allRowsSql = (columns: string, filter: Scan, order: SubscriptionOrder, bind: Bind): string =>
  rowsSql(columns, { filter, order, range: [], bind });

/**
 * Rows of several statuses, or of the products of a plan, are merged from one index range each: a
 * single range would have the rows of all others too, or would have to be sorted. Each range is
 * ordered by itself, so that PostgreSQL reads it only as far as needed. SQLite does so anyway.
 */
function rowsSql(columns: string, rows: Rows): string {
  const { filter, order } = rows;
  const parts = mergedParts(filter, order);
  if (parts.length < 2) return rangeSql(columns, rows);
  const ranges = parts.map(
    (part, index) => `select * from (${rangeSql(columns, { ...rows, filter: part })}) as range_${index}`,
  );
  return `${ranges.join(' union all ')} order by ${orderBy('date', order.descending)}`;
}

/** The filters of the ranges of an index that have the rows of a filter in an order. */
function mergedParts(filter: Scan, order: SubscriptionOrder): readonly Scan[] {
  if (isByStatus(filter, order))
    return [...new Set(filter.statuses)].map((status) => ({ ...filter, statuses: [status] }));
  const { indexProducts, ...others } = filter;
  if (indexProducts === undefined || order.column !== 'created_date') return [];
  return indexProducts.map((productId) => ({ ...others, productId }));
}

function rangeSql(columns: string, rows: Rows): string {
  const { filter, order, range, bind } = rows;
  return `select ${order.column} as date, ${columns} ${rowsFrom(filter, `${order.column}, id, record`, bind)}${and(range)}
    order by ${orderBy(orderedColumn(rows), order.descending)}`;
}

/**
 * The column of an order; an expression in the index of another date, whose rows are sorted:
 * otherwise a planner may read the whole index of the order instead, to sort nothing.
 */
const orderedColumn = ({ filter: { index }, order: { column } }: OrderedScan): string =>
  index === undefined || dateOfIndex(index) === column ? column : `${column} + 0`;

/**
 * Whether the index of statuses has the rows of a filter, for each status in the requested order.
 */
export function isByStatus(filter: Scan, { column }: SubscriptionOrder): boolean {
  const { productId, autoRenew, statuses, index } = filter;
  if (statuses === undefined || statuses.includes(unindexedStatus)) return false;
  if (productId !== undefined || autoRenew !== undefined || index !== undefined) return false;
  return column === 'created_date' && countedFilter(filter, column) !== undefined;
}

/** Whether a key is inside the filter's first bound in an order. */
function isInside({ filter, order: { column, descending } }: OrderedScan, { date }: OrderKey): boolean {
  const { dateColumn, afterSeconds = Number.NEGATIVE_INFINITY, beforeSeconds = Number.POSITIVE_INFINITY } = filter;
  return dateColumn !== column || (descending ? date < beforeSeconds : date > afterSeconds);
}

/**
 * A scan without the bound that its start implies: SQLite uses one lower and one upper bound of an
 * index, and would choose this one.
 */
function withoutFirstBound(scan: OrderedScan): OrderedScan {
  const { filter, order } = scan;
  if (filter.dateColumn !== order.column) return scan;
  const { [order.descending ? 'beforeSeconds' : 'afterSeconds']: _implied, ...others } = filter;
  return { ...scan, filter: others };
}

function orderBy(date: string, descending: boolean): string {
  const direction = descending ? 'desc' : 'asc';
  return `${date} ${direction}, id ${direction}`;
}
