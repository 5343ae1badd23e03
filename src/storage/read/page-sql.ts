import type { OrderKey } from '../order-key.ts';
import {
  and,
  type Bind,
  countedPart,
  type DateColumn,
  filterConditions,
  isCounted,
  type SubscriptionFilter,
} from '../subscription-filter.ts';

/** A total order: the date, then the id, both in the same direction. */
export interface SubscriptionOrder {
  readonly column: DateColumn;
  readonly descending: boolean;
}

/**
 * Where reading begins: at the first record, beyond a key or with it, or so many steps from the
 * first record or into a span.
 */
export type PageStart =
  | { readonly kind: 'first' }
  | { readonly kind: 'beyond'; readonly key: OrderKey; readonly isKeyItself?: boolean }
  | { readonly kind: 'step'; readonly steps: number; readonly span?: SpanSteps };

/** Steps inside a span of `createdDate`, up from its first record or down from its last one. */
interface SpanSteps {
  readonly from: OrderKey;
  readonly until: OrderKey;
  readonly down: boolean;
}

/**
 * The text of a statement that reads up to `limit` records in an order from a start: `date`, `id`
 * and `record`.
 */
export function pageSql(
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  asked: PageStart,
  limit: number,
  bind: Bind,
): string {
  const start = asked.kind === 'beyond' && !isInside(filter, order, asked.key) ? ({ kind: 'first' } as const) : asked;
  const begin = start.kind === 'step' ? `with begin_at as (${stepSql(filter, order, start, bind)}) ` : '';
  const bounded = start.kind === 'first' ? filter : withoutFirstBound(filter, order);
  const rows = { filter: bounded, order, range: startConditions(order, start, bind), limit: bind(limit), bind };
  return `${begin}${isMerged(filter, order) ? mergedRecords(rows) : rowsSql('id, record', rows)}`;
}

interface Rows {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  /** Conditions beside those of the filter. */
  readonly range: readonly string[];
  readonly limit: string;
  readonly bind: Bind;
}

/** The first rows of a filter in an order; which index gives them follows from the filter. */
function rowsSql(columns: string, { filter, order, range, limit, bind }: Rows): string {
  const { column, descending } = order;
  return `select ${column} as date, ${columns} from subscription
    where tenant_id = $1${and([...filterConditions(filter, bind), ...range])}
    order by ${orderBy(column, descending)} limit ${limit}`;
}

/**
 * Whether rows of several statuses are merged from the first ones of each, by its own index. One
 * statement over all of them would walk past every row of another status, or sort all of these.
 */
function isMerged(filter: SubscriptionFilter, { column }: SubscriptionOrder): boolean {
  return new Set(filter.statuses).size > 1 && isCounted(filter) && column === 'created_date';
}

/** The keys of the first rows of a filter, in no order yet when they are merged. */
function keysSql(rows: Rows): string {
  const { filter, order } = rows;
  if (!isMerged(filter, order)) return rowsSql('id', rows);
  const branches = [...new Set(filter.statuses)].map(
    (status, index) =>
      `select date, id from (${rowsSql('id', { ...rows, filter: { ...filter, statuses: [status] } })}) as status_${index}`,
  );
  return branches.join(' union all ');
}

/** Merged rows with their records, which are fetched for the rows of the page alone. */
function mergedRecords(rows: Rows): string {
  const order = orderBy('date', rows.order.descending);
  return `select date, id, (select record from subscription where tenant_id = $1 and id = page.id) as record
    from (select date, id from (${keysSql(rows)}) as merged order by ${order} limit ${rows.limit}) as page
    order by ${order}`;
}

/**
 * Whether a key lies behind the bound that an order comes to first; a cursor that somebody made up
 * need not.
 */
function isInside(filter: SubscriptionFilter, { column, descending }: SubscriptionOrder, { date }: OrderKey): boolean {
  const { dateColumn, afterSeconds = Number.NEGATIVE_INFINITY, beforeSeconds = Number.POSITIVE_INFINITY } = filter;
  return dateColumn !== column || (descending ? date < beforeSeconds : date > afterSeconds);
}

/**
 * Leaves the bound out that follows from where reading begins: SQLite takes one lower and one upper
 * bound, and would begin at this one.
 */
function withoutFirstBound(filter: SubscriptionFilter, { column, descending }: SubscriptionOrder): SubscriptionFilter {
  if (filter.dateColumn !== column) return filter;
  const { afterSeconds, beforeSeconds, ...others } = filter;
  if (descending) return { ...others, ...(afterSeconds !== undefined && { afterSeconds }) };
  return { ...others, ...(beforeSeconds !== undefined && { beforeSeconds }) };
}

function startConditions({ column, descending }: SubscriptionOrder, start: PageStart, bind: Bind): string[] {
  const beyond = descending ? '<' : '>';
  switch (start.kind) {
    case 'first':
      return [];
    case 'beyond':
      return [
        `(${column}, id) ${beyond}${start.isKeyItself === true ? '=' : ''} (${bind(start.key.date)}, ${bind(start.key.id)})`,
      ];
    case 'step':
      return [`(${column}, id) ${beyond}= (select date, at_id from begin_at)`];
  }
}

/**
 * The key of the record so many steps away, read from an index alone: under an OFFSET, the text of
 * each record that is passed would be fetched too. In a span, the date bounds are left out, as its
 * counts know nothing of them. The id is an expression, not a column: SQLite uses a key of columns
 * by its date alone.
 */
function stepSql(
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  { steps, span }: PageStart & { kind: 'step' },
  bind: Bind,
): string {
  const rows = {
    filter,
    order,
    range: [],
    limit: `${bind(1)} offset ${bind(steps)}`,
    bind,
    ...(span !== undefined && {
      filter: countedPart(filter),
      order: { ...order, descending: span.down },
      range: [
        `(created_date, id) >= (${bind(span.from.date)}, ${bind(span.from.id)})`,
        `(created_date, id) < (${bind(span.until.date)}, ${bind(span.until.id)})`,
      ],
    }),
  };
  if (!isMerged(filter, order)) return rowsSql("coalesce(id, '') as at_id", rows);
  const keys = keysSql({ ...rows, limit: bind(steps + 1) });
  return `select date, coalesce(id, '') as at_id from (${keys}) as merged
    order by ${orderBy('date', rows.order.descending)} limit ${rows.limit}`;
}

function orderBy(date: string, descending: boolean): string {
  const direction = descending ? 'desc' : 'asc';
  return `${date} ${direction}, id ${direction}`;
}
