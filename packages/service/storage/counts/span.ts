import type { OrderKey } from '../order-key.ts';
import type { Row, TenantSql } from '../store.ts';
import type { DateColumn, SubscriptionFilter } from '../subscription-filter.ts';
import { dateColumns } from '../subscription-row.ts';

// Order-statistic trees of row counts with three fixed levels: three per tenant, one for the order
// of each date, and one per tenant and product, in the order of `createdDate`. A rank adds up all
// groups before it, one for each 14,000 rows.
//
// - span: a node of a tree. It counts the rows between its order key and the next span's.
// - leaf: a span over rows, at most 500.
// - group: the sum of up to 64 leaves.
// - root: the sum of all groups, one row per tree.
// - series: the name of a tree: `all` for `createdDate`, `activation`, `expiration`, or
//   `product=<id>`.
// - order key: the date of the tree and the id, which order the rows.
// - rank: how many rows lie before an order key.
// - select: finds the row of a rank.

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
  /** The rows by status and renewal: the counts of `countKeys` that are not 0. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The key of rows without a status. */
const noStatus = 'none';
/**
 * Before a status that is no uppercase word: the key is it percent-encoded, which differs from all
 * others.
 */
const encoded = '=';
/** The key of rows that renew automatically; after a status, of those of the status. */
export const renewing = '+';

/** Before a plan: the key of its records, in the trees of products. */
export const planKey = 'plan ';

/** The key of a status, which both engines can find in the JSON of the counts. */
export function keyOf(status: string | null): string {
  if (status === null) return noStatus;
  return /^[A-Z][A-Z0-9_]*$/.test(status) ? status : `${encoded}${encodeURIComponent(status)}`;
}

function statusOfKey(key: string): string | null {
  if (key === noStatus) return null;
  return key.startsWith(encoded) ? decodeURIComponent(key.slice(encoded.length)) : key;
}

/** One of these counts, by its key. */
type CountOf = (key: string) => string;

/** SQL of a span's rows of a filter's statuses and renewal. */
export function countSql({ statuses, autoRenew }: SubscriptionFilter, countOf: CountOf): string {
  const renewed = (all: string, key: string): string => {
    if (autoRenew === undefined) return all;
    return autoRenew === 'true' ? countOf(key) : `${all} - ${countOf(key)}`;
  };
  if (statuses === undefined) return renewed('n', renewing);
  const keys = [...new Set(statuses.map(keyOf))];
  return keys.map((key) => renewed(autoRenew === 'true' ? '' : countOf(key), `${key}${renewing}`)).join(' + ');
}

/** The keys of the statuses that a span counts. */
export const statusKeys = (counts: Span['counts']): readonly string[] =>
  Object.keys(counts).filter((key) => !key.endsWith(renewing) && !key.startsWith(planKey));

/** The keys of the plans that a span counts. */
export const planKeys = (counts: Span['counts']): readonly string[] =>
  Object.keys(counts).filter((key) => key.startsWith(planKey));

/** A span's rows of a filter's statuses and renewal, by status. */
export function statusCounts({ statuses, autoRenew }: SubscriptionFilter, { counts }: Span): [string | null, number][] {
  return statusKeys(counts).flatMap((key): [string | null, number][] => {
    const status = statusOfKey(key);
    if (statuses !== undefined && !statuses.includes(status)) return [];
    const [all = 0, renewed = 0] = [counts[key], counts[`${key}${renewing}`]];
    return [[status, autoRenew === undefined ? all : autoRenew === 'true' ? renewed : all - renewed]];
  });
}

/** Rows of a new leaf: far enough from both bounds that it is not split or merged again at once. */
export const leafRowsAimed = 350;

/** The series of all rows of a tenant, in the order of `createdDate`. */
export const wholeSeries = 'all';
export const seriesOfDate: Readonly<Record<DateColumn, string>> = {
  created_date: wholeSeries,
  activation_date: 'activation',
  expiration_date: 'expiration',
};
export const productPrefix = 'product=';

export const seriesOfProduct = (productId: string): string => `${productPrefix}${productId}`;

/** The product that a series counts, or `undefined` if it counts all rows. */
export const productOfSeries = (series: string): string | undefined =>
  series.startsWith(productPrefix) ? series.slice(productPrefix.length) : undefined;

/** The date that orders a series. */
export const dateOfSeries = (series: string): DateColumn =>
  dateColumns.find((column) => seriesOfDate[column] === series) ?? 'created_date';

/** The series that holds the counts of a filter that the counts know. */
export const seriesOfFilter = ({ productId, dateColumn }: SubscriptionFilter): string =>
  productId === undefined ? seriesOfDate[dateColumn] : seriesOfProduct(productId);

/** The columns that `toSpan` reads. */
export const spanColumns = 'series, level, from_date, from_id, n, cast(counts as text) as counts';

export function toSpan(row: Row): Span {
  return {
    series: String(row.series),
    level: Number(row.level) as SpanLevel,
    from: { date: Number(row.from_date), id: String(row.from_id) },
    n: Number(row.n),
    counts: parseCounts(String(row.counts)),
  };
}

/**
 * Parses counts as both engines write them. A name with an escape, such as that of a plan with a
 * quotation mark, is parsed alone: `JSON.parse` of Node 26 (V8 14.6) may return in its place the
 * name that an object before it had there.
 */
function parseCounts(text: string): Span['counts'] {
  if (!text.includes('\\')) return JSON.parse(text);
  const counts = text.matchAll(/("(?:[^"\\]|\\.)*"): ?(-?\d+)/g);
  return Object.fromEntries(Array.from(counts, ([, name = '', n]) => [JSON.parse(name), Number(n)]));
}

/** Spans of one level whose order keys lie in a range; every string is an SQL expression. */
interface SpanRange {
  readonly series: string;
  readonly level: SpanLevel;
  /** The first order key of the range. */
  readonly from: string;
  /** A comparison with the upper bound of the range, such as `< ($3, $4)`. */
  readonly end: string;
}

/** Composes a statement that reads the spans of a range. */
export function spansSql({ series, level, from, end }: SpanRange) {
  return `select ${spanColumns} from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) >= ${from} and (from_date, from_id) ${end}` as const satisfies TenantSql;
}
