import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { LoadCounts, Row } from '../store.ts';
import { type CountWork, compareSeriesKeys, SpanEdit } from './count-work.ts';
import { reshapeSpans } from './reshape-spans.ts';
import {
  beginLeafIfFull,
  type CountedRow,
  countAt,
  countedNames,
  countKeys,
  dateOfSeries,
  emptyTree,
  placesOfRow,
  type SeriesKey,
  type Span,
  type SpanTree,
  spanColumns,
  toCountedRow,
  toSpan,
  treesOf,
} from './span.ts';

/** Above this many changed rows, all rows are recounted: that needs no memory for each change. */
export const countedChangesMax = 20_000;

/** A row before and after a change; without `before` it is inserted, without `after` removed. */
export interface RowChange {
  readonly before?: CountedRow;
  readonly after?: CountedRow;
}

/**
 * The change that a replacement makes to one row: `was` is whether it existed before, `stays`
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
 *
 * @param storedLast the key of the tenant's last row before the change: rows after it are counted
 * without reading any row
 */
export function* countChanges(changes: readonly RowChange[], storedLast: OrderKey = endOrderKey): CountWork {
  const moves = changes.flatMap(movesOf).sort(compareSeriesKeys);
  if (moves.length === 0) return;
  // most changes subtract a row and add it again at the same key
  const keys = moves.filter((move, index) => index === 0 || compareSeriesKeys(move, moves[index - 1] ?? move) !== 0);
  const [located = []] = yield [{ kind: 'locate', keys }];
  const trees = treesOf(located.map(toSpan));
  const edit = new SpanEdit();
  const counted = new Set<Span>();
  for (const { series, orderKey, keys, by } of moves) {
    const tree = treeFor(trees, series);
    if (dateOfSeries(series) === 'created_date' && compareOrderKeys(orderKey, storedLast) > 0)
      beginLeafIfFull(tree, orderKey);
    for (const span of countAt(tree, orderKey, keys, by)) counted.add(span);
  }
  for (const span of counted) edit.put(span);
  yield* reshapeSpans(edit, trees);
  yield [edit.toRequest()];
}

/** Counts all rows of a tenant again, in a transaction and with the tenant locked. */
export function* recount(): CountWork {
  const [old = [], counted = []] = yield [
    { kind: 'read', sql: `select ${spanColumns} from subscription_span where tenant_id = $1`, values: [] },
    { kind: 'read', sql: countByCountedValues, values: [] },
  ];
  yield [{ kind: 'write', put: [], remove: old.map(toSpan) }];
  const trees = new Map<string, SpanTree>();
  const edit = new SpanEdit();
  for (const { n, ...values } of counted) {
    const row = toCountedRow(values);
    for (const { series } of placesOfRow(row)) {
      for (const span of countAt(treeFor(trees, series), firstOrderKey, countKeys(series, row), Number(n)))
        edit.put(span);
    }
  }
  // each tree is one leaf with all its rows until here
  yield* reshapeSpans(edit, trees);
  yield [edit.toRequest()];
}

/** Reads the key of a tenant's last row, as `created_date` and `id`. */
export const selectLastKey =
  'select created_date, id from subscription where tenant_id = $1 order by created_date desc, id desc limit 1';

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

/**
 * Where a change subtracts a row and where it adds one; nothing for a tree whose counts stay.
 */
function movesOf({ before, after }: RowChange): Move[] {
  const [subtracted, added] = [movesOfRow(before, -1), movesOfRow(after, 1)];
  const isSame = (index: number): boolean => {
    const [old, now] = [subtracted[index], added[index]];
    if (old === undefined || now === undefined) return false;
    return compareSeriesKeys(old, now) === 0 && old.keys.join() === now.keys.join();
  };
  return [subtracted, added].flatMap((moves) => moves.filter((_, index) => !isSame(index)));
}

function movesOfRow(row: CountedRow | undefined, by: 1 | -1): Move[] {
  if (row === undefined) return [];
  return placesOfRow(row).map((place) => ({ ...place, keys: countKeys(place.series, row), by }));
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
