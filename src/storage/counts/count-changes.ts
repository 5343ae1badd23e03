import { firstKey } from '../order-key.ts';
import type { LoadCounts } from '../store.ts';
import { type CountWork, compareSeriesKeys, type SeriesKey } from './count-work.ts';
import { reshapeSpans } from './reshape-spans.ts';
import { type CountedRow, seriesOf, spanColumns, toSpan } from './span.ts';
import { SpanEdit } from './span-edit.ts';
import { countAt, emptyTree, type SpanTree, treesOf } from './span-tree.ts';

/**
 * With more changed rows than this the counts are made anew, which needs no more memory for more of
 * them.
 */
export const countedChangesMax = 20_000;

/** A row as it was and as it is now: one of them is missing when it was inserted or removed. */
export interface RowChange {
  readonly before?: CountedRow;
  readonly after?: CountedRow;
}

/**
 * Brings the counts of a tenant up to date with changes of its rows, in the transaction that made
 * them and with the tenant locked. Spans that grew too large are split at keys of their rows,
 * shrunken ones are merged, so that a span always has a bounded number of rows
 * (`docs/decisions/counts.md`).
 */
export function* countChanges(changes: readonly RowChange[]): CountWork {
  const moves = changes.flatMap(movesOf).sort(compareSeriesKeys);
  if (moves.length === 0) return;
  const [located = []] = yield [{ kind: 'locate', keys: moves }];
  const trees = treesOf(located.map(toSpan));
  const edit = new SpanEdit();
  for (const { series, key, status, by } of moves) {
    for (const changed of countAt(treeOf(trees, series), key, status, by)) edit.put(changed);
  }
  yield* reshapeSpans(edit, trees);
  yield [edit.toRequest()];
}

/** Counts all rows of a tenant anew, in a transaction and with the tenant locked. */
export function* recount(): CountWork {
  const [old = [], groups = []] = yield [
    { kind: 'read', sql: `select ${spanColumns} from subscription_span where tenant_id = $1`, values: [] },
    { kind: 'read', sql: countByProductAndStatus, values: [] },
  ];
  yield [{ kind: 'write', put: [], remove: old.map(toSpan) }];
  const trees = new Map<string, SpanTree>();
  const edit = new SpanEdit();
  for (const { product_id, status, n } of groups) {
    const row = {
      id: '',
      createdDate: 0,
      productId: String(product_id),
      status: status === null ? null : String(status),
    };
    for (const series of seriesOf(row)) {
      for (const changed of countAt(treeOf(trees, series), firstKey, row.status, Number(n))) edit.put(changed);
    }
  }
  yield* reshapeSpans(edit, trees);
  yield [edit.toRequest()];
}

const countByProductAndStatus =
  'select product_id, status, count(*) as n from subscription where tenant_id = $1 group by product_id, status';

interface Move extends SeriesKey {
  readonly status: string | null;
  readonly by: 1 | -1;
}

/**
 * Where a change takes a row away and where it adds one; nothing when it stays counted where it
 * was.
 */
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
  const key = { date: row.createdDate, id: row.id };
  return seriesOf(row).map((series) => ({ series, key, status: row.status, by }));
}

function treeOf(trees: Map<string, SpanTree>, series: string): SpanTree {
  const tree = trees.get(series) ?? emptyTree(series);
  trees.set(series, tree);
  return tree;
}

/** The counts of a load of so many rows that made these changes. */
export function countLoaded(rows: number, changes: readonly { readonly before?: unknown }[]): LoadCounts {
  const inserted = changes.filter(({ before }) => before === undefined).length;
  return { inserted, updated: changes.length - inserted, unchanged: rows - changes.length };
}
