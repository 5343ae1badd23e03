import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { LoadCounts, Row } from '../store.ts';
import { ask, type CountRequest, type CountWork, compareSeriesKeys, SpanEdit } from './count-work.ts';
import { type CountedRow, countedNames, countKeys, placesOfRow, type SeriesKey, toCountedRow } from './counted-row.ts';
import { requireFewValues } from './limit-values.ts';
import { reshapeSpans } from './reshape-spans.ts';
import { dateOfSeries, productOfSeries, type Span, spanColumns, spanLevel, toSpan, wholeSeries } from './span.ts';
import {
  addRows,
  beginLeafIfFull,
  countAt,
  emptyTree,
  type RowSum,
  type SpanDraft,
  type SpanTree,
  spanHolding,
  treesOf,
} from './span-tree.ts';

/** Above this many changed rows, all rows are recounted: that needs no memory for each change. */
export const countedChangesMax = 20_000;

/** A row before and after a change; without `before` it is inserted, without `after` removed. */
export interface RowChange {
  readonly before?: CountedRow;
  readonly after?: CountedRow;
  /** The bytes of the record and the email before and after it, for what the tenant is charged. */
  readonly bytesBefore?: number;
  readonly bytesAfter?: number;
}

/**
 * The change that a staged load makes to one row: `was` is whether it existed before, `stays`
 * whether it exists afterwards; the columns `new_…` are its new values.
 */
export function toRowChange(row: Row | Readonly<Record<string, unknown>>): RowChange {
  const { id = null, was, stays, ...columns } = row as Row;
  const after = countedNames.map((name) => [name, columns[`new_${name}`] ?? null] as const);
  return {
    ...(Boolean(was) && { before: toCountedRow(row as Row) }),
    ...(Boolean(stays) && { after: toCountedRow({ id, ...Object.fromEntries(after) }) }),
  };
}

/**
 * Applies changes of a tenant's rows to its counts, in the transaction that makes them and with the
 * tenant locked. Large spans are split and small ones merged (`docs/decisions/counts.md#counts`).
 * Throws `StorageError` `OVER_BUDGET` if the rows have too many distinct values (`valuesMax`).
 * Returns what is left to write.
 *
 * @param storedLast the key of the tenant's last row before the change: rows after it are counted
 * without reading any row
 */
export function* countChanges(
  changes: readonly RowChange[],
  storedLast: OrderKey = endOrderKey,
): CountWork<readonly CountRequest[]> {
  const moves = movesBySeries(changes);
  if (moves.size === 0) return [];
  // most changes subtract a row and add it again at the same key
  const keys = [...moves.values()].flatMap((own) =>
    own.filter((move, index) => index === 0 || compareSeriesKeys(move, own[index - 1] ?? move) !== 0),
  );
  const [located = []] = yield [{ kind: 'locate', keys }];
  const stored = located.map(toSpan);
  const trees = treesOf(stored);
  const edit = new SpanEdit();
  for (const [series, own] of moves) {
    const newAfter = dateOfSeries(series) === 'created_date' ? storedLast : endOrderKey;
    for (const span of countMoves(treeFor(trees, series), own, newAfter)) edit.put(span);
  }
  yield* requireFewValues(stored.filter(isRoot), rootsOf(trees));
  yield* reshapeSpans(edit, trees);
  return [edit.toRequest()];
}

const isRoot = ({ level }: Span): boolean => level === spanLevel.root;

const rootsOf = (trees: ReadonlyMap<string, SpanTree>): readonly Span[] =>
  [...trees.values()].flatMap(({ roots }) => roots);

/**
 * Counts all rows of a tenant again, in a transaction and with the tenant locked. If they changed
 * since they were counted, throws what `countChanges` throws. Returns what is left to write.
 */
export function* recount({ isChange }: { readonly isChange: boolean }): CountWork<readonly CountRequest[]> {
  // spans that are repaired may be unreadable
  const [roots = []] = isChange ? yield [ask(selectRoots)] : [];
  const [counted = []] = yield [ask(countByCountedValues), ask(removeSpans)];
  const trees = new Map<string, SpanTree>();
  const edit = new SpanEdit();
  for (const { n, ...values } of counted) {
    const row = toCountedRow(values);
    for (const { series } of placesOfRow(row)) {
      const sum: RowSum = { n: 0, counts: {} };
      addRows(sum, countKeys(series, row), Number(n));
      for (const span of countAt(treeFor(trees, series), firstOrderKey, sum)) edit.put(span);
    }
  }
  if (isChange) yield* requireFewValues(roots.map(toSpan), rootsOf(trees));
  // each tree is one leaf with all its rows until here
  yield* reshapeSpans(edit, trees);
  return [edit.toRequest()];
}

const selectRoots =
  `select ${spanColumns} from subscription_span where tenant_id = $1 and level = ${spanLevel.root}` as const;

const removeSpans = 'delete from subscription_span where tenant_id = $1 returning level';

/** The key that `selectLastKey` read; before every record if there is none. */
export const toLastKey = (row: Row | undefined): OrderKey =>
  row === undefined ? firstOrderKey : { date: Number(row.created_date), id: String(row.id) };

const countByCountedValues = `select product_id, plan_id, status, auto_renew, count(*) as n from subscription
  where tenant_id = $1 group by product_id, plan_id, status, auto_renew` as const;

interface Move extends SeriesKey {
  /** The `countKeys` of the row. */
  readonly keys: readonly string[];
  readonly by: 1 | -1;
}

/** The moves of each tree in the order of its keys, sorted by series as `locate` demands. */
function movesBySeries(changes: readonly RowChange[]): ReadonlyMap<string, readonly Move[]> {
  const bySeries = Map.groupBy(changes.flatMap(movesOf), ({ series }) => series);
  for (const moves of bySeries.values()) moves.sort((a, b) => compareOrderKeys(a.orderKey, b.orderKey));
  return new Map([...bySeries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Adds the sorted moves of a tree up by leaf, and counts each sum once on every level, which takes
 * two thirds of the time of counting row by row. Rows after `newAfter` begin new leaves. Returns
 * the changed spans.
 */
function countMoves(tree: SpanTree, moves: readonly Move[], newAfter: OrderKey): ReadonlySet<Span> {
  const sums = new Map<SpanDraft, RowSum>();
  const { leaves } = tree;
  let index = 0;
  for (const { orderKey, keys, by } of moves) {
    if (compareOrderKeys(orderKey, newAfter) > 0) beginLeafIfFull(tree, orderKey, sums);
    for (let next = leaves[index + 1]; next !== undefined && compareOrderKeys(next.from, orderKey) <= 0; )
      next = leaves[++index + 1];
    const leaf = leaves[index] ?? spanHolding(leaves, orderKey);
    const sum = sums.get(leaf) ?? { n: 0, counts: {} };
    addRows(sum, keys, by);
    sums.set(leaf, sum);
  }
  return new Set([...sums].flatMap(([{ from }, sum]) => countAt(tree, from, sum)));
}

/**
 * Where a change subtracts a row and where it adds one; nothing for a tree whose counts stay.
 */
function movesOf({ before, after }: RowChange): Move[] {
  const [subtracted, added] = [movesOfRow(before, -1), movesOfRow(after, 1)];
  if (subtracted.length === 0) return added;
  const isSame = (index: number): boolean => {
    const [old, now] = [subtracted[index], added[index]];
    if (old === undefined || now === undefined) return false;
    return compareSeriesKeys(old, now) === 0 && old.keys.join() === now.keys.join();
  };
  return [subtracted, added].flatMap((moves) => moves.filter((_, index) => !isSame(index)));
}

function movesOfRow(row: CountedRow | undefined, by: 1 | -1): Move[] {
  if (row === undefined) return [];
  const keys = countKeys(wholeSeries, row);
  return placesOfRow(row).map(({ series, orderKey }) => {
    const isOfProduct = productOfSeries(series) !== undefined;
    return { series, orderKey, keys: isOfProduct ? countKeys(series, row) : keys, by };
  });
}

function treeFor(trees: Map<string, SpanTree>, series: string): SpanTree {
  const tree = trees.get(series) ?? emptyTree(series);
  trees.set(series, tree);
  return tree;
}

/** Returns the counts of a load of `rows` rows that made these changes. */
export function countLoaded(rows: number, changes: readonly { readonly before?: unknown }[]): LoadCounts {
  const inserted = changes.filter(({ before }) => before === undefined).length;
  return { inserted, updated: changes.length - inserted, unchanged: rows - changes.length };
}
