import { compareKeys, endKey, firstKey, type OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import type { CountRequest, CountWork } from './count-work.ts';
import {
  groupSpansAimed,
  groupSpansMax,
  joinSpans,
  productOfSeries,
  type Span,
  spanColumns,
  spanRowsAimed,
  spanRowsMax,
  spanRowsMin,
  toSpan,
} from './span.ts';
import type { SpanEdit } from './span-edit.ts';
import { draftOf, type SpanDraft, type SpanTree, spanAt } from './span-tree.ts';

/**
 * Splits the spans of some trees that grew too large and merges those that shrank; adds to the edit
 * what that changes.
 */
export function* reshapeSpans(edit: SpanEdit, trees: ReadonlyMap<string, SpanTree>): CountWork {
  const groups: UnevenGroup[] = [];
  for (const [series, tree] of trees) {
    if (tree[2].every(({ n }) => n === 0)) yield* removeSeries(edit, series, tree);
    else groups.push(...unevenGroups(tree));
  }
  if (groups.length === 0) return;
  const results = yield groups.flatMap(({ group, large }) => [readSpans(group), ...large.map(readPieces)]);
  let next = 0;
  for (const { tree, group, large } of groups) {
    const stored = (results[next++] ?? []).map(toSpan);
    const pieces = new Map(large.map((span) => [span, toPieces(span, results[next++] ?? [])]));
    reshapeGroup(edit, group, spansOf(tree, group, stored), pieces);
  }
}

interface UnevenGroup {
  readonly tree: SpanTree;
  readonly group: SpanDraft;
  /** Its spans that are to be split. */
  readonly large: readonly SpanDraft[];
}

/** The groups that hold a span which is too large now, or too small after it shrank. */
function unevenGroups(tree: SpanTree): UnevenGroup[] {
  const large = new Map<SpanDraft, SpanDraft[]>();
  for (const span of tree[0]) {
    const isLarge = span.n > spanRowsMax;
    if (!isLarge && (span.n >= span.before || span.n >= spanRowsMin)) continue;
    const group = spanAt(tree[1], span.from);
    large.set(group, [...(large.get(group) ?? []), ...(isLarge ? [span] : [])]);
  }
  return [...large].map(([group, spans]) => ({ tree, group, large: spans }));
}

/**
 * All spans of level 0 in a group as they are after the change: those stored, and those changed or
 * new in their place.
 */
function spansOf(tree: SpanTree, group: SpanDraft, stored: readonly Span[]): readonly SpanDraft[] {
  const changed = tree[0].filter((span) => spanAt(tree[1], span.from) === group);
  const known = new Set(changed.map(({ from }) => `${from.date} ${from.id}`));
  const others = stored.filter(({ from }) => !known.has(`${from.date} ${from.id}`)).map(draftOf);
  return [...changed, ...others].sort((a, b) => compareKeys(a.from, b.from));
}

function reshapeGroup(
  edit: SpanEdit,
  group: SpanDraft,
  spans: readonly SpanDraft[],
  pieces: ReadonlyMap<SpanDraft, readonly Span[]>,
): void {
  const isEmpty = group.n === 0 && compareKeys(group.from, firstKey) !== 0;
  // what lies before an empty group reaches further now
  const shaped = isEmpty ? [] : mergeSmall(spans.flatMap((span) => pieces.get(span) ?? [span]));
  const [before, after] = [new Set<Span>(spans), new Set(shaped)];
  for (const span of [group, ...spans]) if (!after.has(span)) edit.remove(span);
  for (const span of shaped) if (!before.has(span)) edit.put(span);
  for (const part of evenParts(shaped, groupSpansMax, groupSpansAimed)) edit.put(joinSpans(1, part));
}

/** Merges each small span with the one before it, when both fit into one. */
function mergeSmall(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    const isSmall = span.n < spanRowsMin || (last !== undefined && last.n < spanRowsMin);
    if (last === undefined || !isSmall || last.n + span.n > spanRowsAimed) merged.push(span);
    else merged[merged.length - 1] = joinSpans(0, [last, span]);
  }
  return merged;
}

type Part = readonly [Span, ...Span[]];

/**
 * A list in parts of about the same length: one part when there are at most `max`, else parts of at
 * most `aimed`.
 */
function evenParts(spans: readonly Span[], max: number, aimed: number): readonly Part[] {
  const count = spans.length <= max ? 1 : Math.ceil(spans.length / aimed);
  const length = Math.ceil(spans.length / count);
  return Array.from({ length: count }, (_, part) => {
    const [first, ...others] = spans.slice(part * length, (part + 1) * length);
    return first === undefined ? undefined : ([first, ...others] as const);
  }).filter((part) => part !== undefined);
}

/** Removes everything of a series that has no row any more. */
function* removeSeries(edit: SpanEdit, series: string, tree: SpanTree): CountWork {
  const sql = `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2` as const;
  const [stored = []] = yield [{ kind: 'read', sql, values: [series] }];
  for (const span of [...tree[0], ...tree[1], ...tree[2], ...stored.map(toSpan)]) edit.remove(span);
}

/** Asks for the spans of a group as they are stored. */
function readSpans({ series, from }: Span): CountRequest {
  const sql = `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2 and level = 0
    and (from_date, from_id) >= ($3, $4) and (from_date, from_id) < (
      select from_date, from_id from (
        select from_date, from_id from subscription_span
        where tenant_id = $1 and series = $2 and level = 1 and (from_date, from_id) > ($3, $4)
        union all select ${endKey.date}, ''
      ) as groups order by from_date, from_id limit 1)` as const;
  return { kind: 'read', sql, values: [series, from.date, from.id] };
}

/**
 * Asks for the rows of a span in pieces of even size, by status; the first row of each piece gives
 * its key.
 */
function readPieces({ series, from, n }: Span): CountRequest {
  const product = productOfSeries(series);
  const rows = Math.ceil(n / Math.ceil(n / spanRowsAimed));
  const sql = `select piece, status, count(*) as n, max(case when is_first then created_date end) as from_date,
      max(case when is_first then id end) as from_id
    from (
      select created_date, id, status, rank / cast($5 as bigint) as piece, rank % cast($5 as bigint) = 0 as is_first
      from (
        select created_date, id, status, row_number() over (order by created_date, id) - 1 as rank
        from (
          select created_date, id, status from subscription
          where tenant_id = $1 and (created_date, id) >= ($2, $3)${product === undefined ? '' : ' and product_id = $6'}
          order by created_date, id limit $4
        ) as kept
      ) as ranked
    ) as cut
    group by piece, status` as const;
  return {
    kind: 'read',
    sql,
    values: [from.date, from.id, n, rows, ...(product === undefined ? [] : [product])],
  };
}

/** The spans that a span is split into; the first keeps its key. */
function toPieces({ series, from }: Span, rows: readonly Row[]): readonly Span[] {
  const pieces = new Map<number, { from: OrderKey; n: number; statuses: Record<string, number> }>();
  for (const row of rows) {
    const place = Number(row.piece);
    const piece = pieces.get(place) ?? { from, n: 0, statuses: {} };
    pieces.set(place, piece);
    piece.n += Number(row.n);
    if (row.status !== null) piece.statuses[String(row.status)] = Number(row.n);
    if (place > 0 && row.from_id !== null) piece.from = { date: Number(row.from_date), id: String(row.from_id) };
  }
  return [...pieces.values()]
    .map((piece) => ({ series, level: 0 as const, ...piece }))
    .sort((a, b) => compareKeys(a.from, b.from));
}
