import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import { ask, type CountRequest, type CountWork, type SpanEdit } from './count-work.ts';
import { countKeys, toCountedRow } from './counted-row.ts';
import {
  dateOfSeries,
  leafRowsAimed,
  productOfSeries,
  type Span,
  spanColumns,
  spanLevel,
  spansSql,
  toSpan,
} from './span.ts';
import {
  addRows,
  compareSpans,
  draftOf,
  groupLeavesAimed,
  groupLeavesMax,
  joinSpans,
  leafRowsMax,
  leafRowsMin,
  type RowSum,
  type SpanDraft,
  type SpanTree,
  spanHolding,
} from './span-tree.ts';

/** Splits the leaves and groups that grew too large, merges leaves that shrank; adds to `edit`. */
export function* reshapeSpans(edit: SpanEdit, trees: ReadonlyMap<string, SpanTree>): CountWork {
  const uneven: UnevenGroup[] = [];
  for (const [series, tree] of trees) {
    if (tree.roots.every(({ n }) => n === 0)) yield* removeTree(edit, series, tree);
    else uneven.push(...unevenGroups(tree));
  }
  if (uneven.length === 0) return;
  const results = yield uneven.flatMap(({ group, large }) => [requestLeaves(group), ...large.map(requestPieces)]);
  let next = 0;
  for (const { tree, group, large } of uneven) {
    const stored = (results[next++] ?? []).map(toSpan);
    const pieces = new Map(large.map((leaf) => [leaf, toPieces(leaf, results[next++] ?? [])]));
    reshapeGroup(edit, group, leavesOf(tree, group, stored), pieces);
  }
}

interface UnevenGroup {
  readonly tree: SpanTree;
  readonly group: SpanDraft;
  /** Its leaves that must be split. */
  readonly large: readonly SpanDraft[];
}

/** The groups with a leaf that is too large or new, or too small after it shrank. */
function unevenGroups(tree: SpanTree): UnevenGroup[] {
  const large = new Map<SpanDraft, SpanDraft[]>();
  for (const leaf of tree.leaves) {
    const isLarge = leaf.n > leafRowsMax;
    const isNew = leaf.before === 0 && compareOrderKeys(leaf.from, firstOrderKey) !== 0;
    if (!isLarge && !isNew && (leaf.n >= leaf.before || leaf.n >= leafRowsMin)) continue;
    const group = spanHolding(tree.groups, leaf.from);
    large.set(group, [...(large.get(group) ?? []), ...(isLarge ? [leaf] : [])]);
  }
  return [...large].map(([group, leaves]) => ({ tree, group, large: leaves }));
}

/** All leaves of a group after the change: the changed and new ones, and the other stored ones. */
function leavesOf(tree: SpanTree, group: SpanDraft, stored: readonly Span[]): readonly SpanDraft[] {
  const changed = tree.leaves.filter((leaf) => spanHolding(tree.groups, leaf.from) === group);
  const known = new Set(changed.map(({ from }) => `${from.date} ${from.id}`));
  const others = stored.filter(({ from }) => !known.has(`${from.date} ${from.id}`)).map(draftOf);
  return [...changed, ...others].sort(compareSpans);
}

function reshapeGroup(
  edit: SpanEdit,
  group: SpanDraft,
  leaves: readonly SpanDraft[],
  pieces: ReadonlyMap<SpanDraft, readonly Span[]>,
): void {
  // the group before an empty one takes its range over; the first group stays, as none is before it
  const isRemoved = group.n === 0 && compareOrderKeys(group.from, firstOrderKey) !== 0;
  const shaped = isRemoved ? [] : mergeSmall(leaves.flatMap((leaf) => pieces.get(leaf) ?? [leaf]));
  const [before, after] = [new Set<Span>(leaves), new Set(shaped)];
  for (const span of [group, ...leaves]) if (!after.has(span)) edit.remove(span);
  for (const leaf of shaped) if (!before.has(leaf)) edit.put(leaf);
  for (const part of evenParts(shaped, groupLeavesMax, groupLeavesAimed)) edit.put(joinSpans(spanLevel.group, part));
}

/** Merges each small leaf with the one before it, if both fit into one. */
function mergeSmall(leaves: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const leaf of leaves) {
    const last = merged.at(-1);
    const isSmall = leaf.n < leafRowsMin || (last !== undefined && last.n < leafRowsMin);
    if (last === undefined || !isSmall || last.n + leaf.n > leafRowsAimed) merged.push(leaf);
    else merged[merged.length - 1] = joinSpans(spanLevel.leaf, [last, leaf]);
  }
  return merged;
}

/**
 * Cuts a list into parts of about the same length: one part up to `max`, else parts of at most
 * `aimed`.
 */
function evenParts(spans: readonly Span[], max: number, aimed: number): readonly (readonly [Span, ...Span[]])[] {
  const count = spans.length <= max ? 1 : Math.ceil(spans.length / aimed);
  const length = Math.ceil(spans.length / count);
  return Array.from({ length: count }, (_, part) => {
    const [first, ...others] = spans.slice(part * length, (part + 1) * length);
    return first === undefined ? undefined : ([first, ...others] as const);
  }).filter((part) => part !== undefined);
}

function* removeTree(edit: SpanEdit, series: string, { leaves, groups, roots }: SpanTree): CountWork {
  const sql = `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2` as const;
  const [stored = []] = yield [ask(sql, series)];
  for (const span of [...leaves, ...groups, ...roots, ...stored.map(toSpan)]) edit.remove(span);
}

/** Requests the leaves of a group as they are stored. */
function requestLeaves({ series, from }: Span): CountRequest {
  const end = `< (
      select from_date, from_id from (
        select from_date, from_id from subscription_span
        where tenant_id = $1 and series = $2 and level = ${spanLevel.group} and (from_date, from_id) > ($3, $4)
        union all select ${endOrderKey.date}, ''
      ) as groups order by from_date, from_id limit 1)`;
  const sql = spansSql({ series: '$2', level: spanLevel.leaf, from: '($3, $4)', end });
  return ask(sql, series, from.date, from.id);
}

/** How `n` rows of a leaf are cut: rows of each piece but the last, and the index of the last. */
function cutOf(n: number): { readonly rows: number; readonly last: number } {
  const rows = Math.ceil(n / Math.ceil(n / leafRowsAimed));
  return { rows, last: Math.ceil(n / rows) - 1 };
}

/**
 * Requests the counted rows of a leaf in pieces of equal size, with the first key of each. Of the
 * last piece it reads only the first row: the counts of the leaf minus those of the other pieces
 * are its counts.
 */
function requestPieces({ series, from, n }: Span): CountRequest {
  const product = productOfSeries(series);
  const date = dateOfSeries(series);
  const { rows, last } = cutOf(n);
  const sql =
    `select piece, status, auto_renew, plan_id, count(*) as n, max(case when is_first then date end) as from_date,
      max(case when is_first then id end) as from_id
    from (
      select date, id, status, auto_renew, plan_id, rank / cast($5 as bigint) as piece, rank % cast($5 as bigint) = 0 as is_first
      from (
        select date, id, status, auto_renew, plan_id, row_number() over (order by date, id) - 1 as rank
        from (
          select ${date} as date, id, status, auto_renew, plan_id from subscription
          where tenant_id = $1 and (${date}, id) >= ($2, $3)${product === undefined ? '' : ' and product_id = $6'}
          order by ${date}, id limit $4
        ) as kept
      ) as ranked
    ) as cut
    group by piece, status, auto_renew, plan_id` as const;
  return ask(sql, from.date, from.id, rows * last + 1, rows, ...(product === undefined ? [] : [product]));
}

/** The leaves that a leaf is split into; the first one keeps its key. */
function toPieces({ series, from, n, counts }: Span, rows: readonly Row[]): readonly Span[] {
  const { last } = cutOf(n);
  const rest: RowSum = { n, counts: { ...counts } };
  const pieces: Piece[] = [];
  for (const row of rows) {
    const index = Number(row.piece);
    pieces[index] ??= { from, sum: { n: 0, counts: {} } };
    const piece = pieces[index];
    if (index > 0 && row.from_id !== null) piece.from = { date: Number(row.from_date), id: String(row.from_id) };
    if (index === last) continue;
    const keys = countKeys(series, toCountedRow(row));
    addRows(piece.sum, keys, Number(row.n));
    addRows(rest, keys, -Number(row.n));
  }
  return pieces.map((piece, index) => ({
    ...{ series, level: spanLevel.leaf, from: piece.from },
    ...(index === last ? rest : piece.sum),
  }));
}

interface Piece {
  from: OrderKey;
  readonly sum: RowSum;
}
