import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { LoadCounts, Row } from '../store.ts';
import { type CountWork, compareSeriesKeys, type SeriesKey, SpanEdit } from './count-work.ts';
import { reshapeSpans } from './reshape-spans.ts';
import {
  beginLeafIfFull,
  type CountedRow,
  countAt,
  emptyTree,
  type Span,
  type SpanTree,
  seriesOfRow,
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
  const { id, was, stays, new_created_date, new_product_id, new_status } = row as Row;
  const after = { id, created_date: new_created_date, product_id: new_product_id, status: new_status } as Row;
  return {
    ...(Boolean(was) && { before: toCountedRow(row as Row) }),
    ...(Boolean(stays) && { after: toCountedRow(after) }),
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
  for (const { series, orderKey, status, by } of moves) {
    const tree = treeFor(trees, series);
    if (compareOrderKeys(orderKey, storedLast) > 0) beginLeafIfFull(tree, orderKey);
    for (const span of countAt(tree, orderKey, status, by)) counted.add(span);
  }
  for (const span of counted) edit.put(span);
  yield* reshapeSpans(edit, trees);
  yield [edit.toRequest()];
}

/** Counts all rows of a tenant again, in a transaction and with the tenant locked. */
export function* recount(): CountWork {
  const [old = [], counted = []] = yield [
    { kind: 'read', sql: `select ${spanColumns} from subscription_span where tenant_id = $1`, values: [] },
    { kind: 'read', sql: countByProductAndStatus, values: [] },
  ];
  yield [{ kind: 'write', put: [], remove: old.map(toSpan) }];
  const trees = new Map<string, SpanTree>();
  const edit = new SpanEdit();
  for (const { product_id, status, n } of counted) {
    const row = {
      id: '',
      createdDate: 0,
      productId: String(product_id),
      status: status === null ? null : String(status),
    };
    for (const series of seriesOfRow(row)) {
      for (const changed of countAt(treeFor(trees, series), firstOrderKey, row.status, Number(n))) edit.put(changed);
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

const countByProductAndStatus =
  'select product_id, status, count(*) as n from subscription where tenant_id = $1 group by product_id, status';

interface Move extends SeriesKey {
  readonly status: string | null;
  readonly by: 1 | -1;
}

/** Where a change subtracts a row and where it adds one; empty if no count changes. */
function movesOf({ before, after }: RowChange): Move[] {
  const stays =
    before !== undefined &&
    after !== undefined &&
    before.createdDate === after.createdDate &&
    before.productId === after.productId &&
    before.status === after.status;
  if (stays) return [];
  return [
    ...(before === undefined ? [] : movesOfRow(before, -1)),
    ...(after === undefined ? [] : movesOfRow(after, 1)),
  ];
}

function movesOfRow(row: CountedRow, by: 1 | -1): Move[] {
  const orderKey = { date: row.createdDate, id: row.id };
  return seriesOfRow(row).map((series) => ({ series, orderKey, status: row.status, by }));
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
