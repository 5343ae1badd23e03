import { compareOrderKeys, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row, TenantSql } from '../store.ts';
import { type DateColumn, dateColumns, type SubscriptionFilter } from '../subscription-filter.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

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
const renewing = '+';

/** Before a plan: the key of its records, in the trees of products. */
export const planKey = 'plan ';

type CountedValues = Pick<CountedRow, 'status' | 'autoRenew' | 'planId'>;

/** The keys that count a row in a series, besides `n`. */
export function countKeys(series: string, { status, autoRenew, planId }: CountedValues): readonly string[] {
  const key = keyOf(status);
  return [
    ...(autoRenew === 'true' ? [key, `${key}${renewing}`, renewing] : [key]),
    ...(productOfSeries(series) === undefined || planId === null ? [] : [`${planKey}${planId}`]),
  ];
}

/** The key of a status, which both engines can find in the JSON of the counts. */
function keyOf(status: string | null): string {
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

/** The fields of a row that decide which spans count it. */
export type CountedRow = Pick<
  SubscriptionRow,
  'id' | 'createdDate' | 'activationDate' | 'expirationDate' | 'productId' | 'planId' | 'status' | 'autoRenew'
>;

/** The columns besides the id that `toCountedRow` reads. */
export const countedNames = [...dateColumns, 'product_id', 'plan_id', 'status', 'auto_renew'] as const;

/** All columns that `toCountedRow` reads, separated by commas. */
export const countedColumns = `id, ${countedNames.join(', ')}` as const;

/** These columns besides the id, of a table. */
export const countedOf = (table: string): string => countedNames.map((name) => `${table}.${name}`).join(', ');

/** The definitions of these columns in a temporary table. */
export const defineCounted = (bigint: string): string =>
  countedNames.map((name) => `${name} ${name.endsWith('_date') ? bigint : 'text'}`).join(', ');

/** SQL of a replaced row's new columns, of a table, as `toRowChange` reads them. */
export const newCountedOf = (table: string): string =>
  countedNames.map((name) => `${table}.${name} as new_${name}`).join(', ');

export function toCountedRow(row: Row): CountedRow {
  return {
    id: String(row.id),
    createdDate: Number(row.created_date),
    activationDate: Number(row.activation_date),
    expirationDate: Number(row.expiration_date),
    productId: String(row.product_id),
    planId: row.plan_id === null ? null : String(row.plan_id),
    status: row.status === null ? null : String(row.status),
    autoRenew: String(row.auto_renew),
  };
}

/** A leaf with more rows is split. The sizes were measured: docs/decisions/counts.md#counts. */
export const leafRowsMax = 500;
/** A leaf that shrinks below this is merged with a neighbour, if both fit into one. */
export const leafRowsMin = 60;
/** Rows of a new leaf: far enough from both bounds that it is not split or merged again at once. */
export const leafRowsAimed = 350;
/** A group with more leaves is split. */
export const groupLeavesMax = 64;
export const groupLeavesAimed = 40;

/** The series of all rows of a tenant, in the order of `createdDate`. */
export const wholeSeries = 'all';
const seriesOfDate: Readonly<Record<DateColumn, string>> = {
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

/** All series that count a row, with its key in each. */
export const placesOfRow = (row: CountedRow): readonly SeriesKey[] => [
  { series: wholeSeries, orderKey: { date: row.createdDate, id: row.id } },
  { series: seriesOfProduct(row.productId), orderKey: { date: row.createdDate, id: row.id } },
  { series: seriesOfDate.activation_date, orderKey: { date: row.activationDate, id: row.id } },
  { series: seriesOfDate.expiration_date, orderKey: { date: row.expirationDate, id: row.id } },
];

/** An order key in the tree of a series. */
export interface SeriesKey {
  readonly series: string;
  readonly orderKey: OrderKey;
}

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
    counts: JSON.parse(String(row.counts)),
  };
}

/** Adds the counts of adjacent spans up in one span, which begins where the first one does. */
export function joinSpans(level: SpanLevel, spans: readonly [Span, ...Span[]]): Span {
  const [{ series, from }] = spans;
  const counts: Record<string, number> = {};
  let n = 0;
  for (const span of spans) {
    n += span.n;
    for (const [key, rows] of Object.entries(span.counts)) counts[key] = (counts[key] ?? 0) + rows;
  }
  return { series, level, from, n, counts };
}

/** A span under change. */
export interface SpanDraft extends Span {
  n: number;
  readonly counts: Record<string, number>;
  /** Rows that it had before the change. */
  readonly before: number;
}

/** The spans of one tree that a change reads, each level sorted by key. */
export interface SpanTree {
  readonly leaves: SpanDraft[];
  readonly groups: SpanDraft[];
  readonly roots: SpanDraft[];
}

export function treesOf(spans: readonly Span[]): Map<string, SpanTree> {
  const bySeries = Map.groupBy(spans, ({ series }) => series);
  return new Map([...bySeries].map(([series, own]) => [series, treeOf(own)]));
}

function treeOf(spans: readonly Span[]): SpanTree {
  const draftsOf = (wanted: SpanLevel): SpanDraft[] => spans.filter(({ level }) => level === wanted).map(draftOf);
  return {
    leaves: draftsOf(spanLevel.leaf).sort(compareSpans),
    groups: draftsOf(spanLevel.group).sort(compareSpans),
    roots: draftsOf(spanLevel.root),
  };
}

export function emptyTree(series: string): SpanTree {
  const empty = (level: SpanLevel) => [draftOf({ series, level, from: firstOrderKey, n: 0, counts: {} })];
  return { leaves: empty(spanLevel.leaf), groups: empty(spanLevel.group), roots: empty(spanLevel.root) };
}

export const draftOf = (span: Span): SpanDraft => ({ ...span, counts: { ...span.counts }, before: span.n });

/** Sorts the spans of one level. */
export const compareSpans = (a: Span, b: Span): number => compareOrderKeys(a.from, b.from);

/** The span of a sorted level that holds a key: the last one that begins at or before it. */
export function spanHolding<T extends Span>(spans: readonly T[], key: OrderKey): T {
  const startsUpTo = (span: T | undefined): boolean => span !== undefined && compareOrderKeys(span.from, key) <= 0;
  const last = spans.at(-1);
  const found = startsUpTo(last) ? last : spans[lowerBound(spans.length, (index) => startsUpTo(spans[index])) - 1];
  if (found === undefined)
    throw new RangeError(
      `Cannot count a row: a span must begin at or before its key: current value is '${key.date} ${key.id}'`,
    );
  return found;
}

/**
 * Begins a leaf at a key after all rows of the tree, unless its last leaf has room beside the rows
 * that `sums` adds to it.
 */
export function beginLeafIfFull({ leaves }: SpanTree, from: OrderKey, sums: ReadonlyMap<SpanDraft, RowSum>): void {
  const last = leaves.at(-1);
  if (last === undefined || last.n + (sums.get(last)?.n ?? 0) < leafRowsAimed) return;
  leaves.push(draftOf({ series: last.series, level: spanLevel.leaf, from, n: 0, counts: {} }));
}

/** Rows to add to spans, or to subtract: the sum of them all, and by `countKeys`. */
export interface RowSum {
  n: number;
  readonly counts: Record<string, number>;
}

/** Adds `by` rows with the same `countKeys` to a sum. */
export function addRows(sum: RowSum, keys: readonly string[], by: number): void {
  sum.n += by;
  for (const key of keys) addCount(sum.counts, key, by);
}

/** Adds rows at a key, on every level. Returns the changed spans. */
export function countAt(tree: SpanTree, at: OrderKey, { n, counts }: RowSum): readonly SpanDraft[] {
  const path = [spanHolding(tree.leaves, at), spanHolding(tree.groups, at), spanHolding(tree.roots, at)];
  for (const draft of path) {
    draft.n += n;
    for (const key in counts) addCount(draft.counts, key, counts[key] ?? 0);
  }
  return path;
}

/** Adds to a count; one that becomes 0 is removed. */
export function addCount(counts: Record<string, number>, key: string, by: number): void {
  const rows = (counts[key] ?? 0) + by;
  if (rows === 0) delete counts[key];
  else counts[key] = rows;
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
export function spansSql({ series, level, from, end }: SpanRange, columns = spanColumns) {
  return `select ${columns} from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) >= ${from} and (from_date, from_id) ${end}` as const satisfies TenantSql;
}

/**
 * How many of the indexes from 0 to `length` lie before a boundary: `isBefore` is true for all
 * indexes up to it and false from there on. Takes O(log `length`) calls.
 */
export function lowerBound(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
