import type { OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

/** Level of a span: 0 holds rows, 1 groups spans of level 0, 2 is the whole series. */
export type SpanLevel = 0 | 1 | 2;

/**
 * How many rows of a series lie between the span's key and the next one of its level, in all and by
 * status; those without a status are in `n` alone.
 */
export interface Span {
  readonly series: string;
  readonly level: SpanLevel;
  readonly from: OrderKey;
  readonly n: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** What decides where a row is counted. */
export type CountedRow = Pick<SubscriptionRow, 'id' | 'createdDate' | 'productId' | 'status'>;

/** The columns that `toCountedRow` reads. */
export const countedColumns = 'id, created_date, product_id, status';

/** What decides where a stored row is counted. */
export function toCountedRow({ id, created_date, product_id, status }: Row): CountedRow {
  return {
    id: String(id),
    createdDate: Number(created_date),
    productId: String(product_id),
    status: status === null ? null : String(status),
  };
}

/** A span of level 0 with more rows is split; measured, see docs/decisions/counts.md. */
export const spanRowsMax = 500;
/**
 * A span of level 0 that shrinks below this is merged with its neighbour when both fit together.
 */
export const spanRowsMin = 60;
/** How full spans are made, so that they neither split nor merge again at once. */
export const spanRowsAimed = 350;
/** A group with more spans is split. */
export const groupSpansMax = 64;
export const groupSpansAimed = 40;

/** Name of the series of all rows of a tenant. */
export const wholeSeries = 'all';
const productPrefix = 'product=';

/** Name of the series of one product. */
export const seriesOfProduct = (productId: string): string => `${productPrefix}${productId}`;

/** The product that a series counts, or `undefined` when it counts all rows. */
export const productOfSeries = (series: string): string | undefined =>
  series === wholeSeries ? undefined : series.slice(productPrefix.length);

/** Every series that a row belongs to. */
export const seriesOf = ({ productId }: CountedRow): readonly string[] => [wholeSeries, seriesOfProduct(productId)];

/** The columns that `toSpan` reads. */
export const spanColumns = 'series, level, from_date, from_id, n, cast(statuses as text) as statuses';

/** A span from its row. */
export function toSpan(row: Row): Span {
  return {
    series: String(row.series),
    level: Number(row.level) as SpanLevel,
    from: { date: Number(row.from_date), id: String(row.from_id) },
    n: Number(row.n),
    statuses: JSON.parse(String(row.statuses)),
  };
}

/** One span that counts what several neighbours count, from the key of the first. */
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
