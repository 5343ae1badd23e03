// An order-statistic B+-tree of row counts, one tree per tenant and one per tenant and product.
//
// - span: a node of a tree. It counts the rows between its order key and the next span's.
// - leaf: a span over rows, at most 500.
// - group: the sum of up to 64 leaves.
// - root: the sum of all groups, one row per tree.
// - series: the name of a tree, either `all` or `product=<id>`.
// - order key: `createdDate` and id, which order the rows.
// - rank: how many rows lie before an order key.
// - select: finds the row of a rank.

import type { OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import type { SubscriptionFilter } from '../subscription-filter.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

/** The levels of a tree, as they are stored. */
export const spanLevel = { leaf: 0, group: 1, root: 2 } as const;
export type SpanLevel = (typeof spanLevel)[keyof typeof spanLevel];

/** A node of a tree: how many rows lie between `from` and the next span of its level. */
export interface Span {
  readonly series: string;
  readonly level: SpanLevel;
  readonly from: OrderKey;
  /** All rows. */
  readonly n: number;
  /** The rows that have a status, by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** The fields of a row that decide which spans count it. */
export type CountedRow = Pick<SubscriptionRow, 'id' | 'createdDate' | 'productId' | 'status'>;

/** The columns that `toCountedRow` reads. */
export const countedColumns = 'id, created_date, product_id, status';

export function toCountedRow({ id, created_date, product_id, status }: Row): CountedRow {
  return {
    id: String(id),
    createdDate: Number(created_date),
    productId: String(product_id),
    status: status === null ? null : String(status),
  };
}

/** A leaf with more rows is split. The sizes were measured: docs/decisions/counts.md. */
export const leafRowsMax = 500;
/** A leaf that shrinks below this is merged with a neighbour, if both fit into one. */
export const leafRowsMin = 60;
/** Rows of a new leaf: far enough from both bounds that it is not split or merged again at once. */
export const leafRowsAimed = 350;
/** A group with more leaves is split. */
export const groupLeavesMax = 64;
export const groupLeavesAimed = 40;

/** The series of all rows of a tenant. */
export const wholeSeries = 'all';
const productPrefix = 'product=';

/** The series of one product. */
const seriesOfProduct = (productId: string): string => `${productPrefix}${productId}`;

/** The product that a series counts, or `undefined` if it counts all rows. */
export const productOfSeries = (series: string): string | undefined =>
  series === wholeSeries ? undefined : series.slice(productPrefix.length);

/** Both series that count a row. */
export const seriesOfRow = ({ productId }: CountedRow): readonly string[] => [wholeSeries, seriesOfProduct(productId)];

/** The series that holds the counts of a filter. */
export const seriesOfFilter = ({ productId }: SubscriptionFilter): string =>
  productId === undefined ? wholeSeries : seriesOfProduct(productId);

/** The columns that `toSpan` reads. */
export const spanColumns = 'series, level, from_date, from_id, n, cast(statuses as text) as statuses';

export function toSpan(row: Row): Span {
  return {
    series: String(row.series),
    level: Number(row.level) as SpanLevel,
    from: { date: Number(row.from_date), id: String(row.from_id) },
    n: Number(row.n),
    statuses: JSON.parse(String(row.statuses)),
  };
}

/** Adds the counts of adjacent spans up in one span, which begins where the first one does. */
export function joinSpans(level: SpanLevel, spans: readonly [Span, ...Span[]]): Span {
  const [{ series, from }] = spans;
  const statuses: Record<string, number> = {};
  let n = 0;
  for (const span of spans) {
    n += span.n;
    for (const [status, rows] of Object.entries(span.statuses)) statuses[status] = (statuses[status] ?? 0) + rows;
  }
  return { series, level, from, n, statuses };
}
