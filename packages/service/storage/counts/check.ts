import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { TenantReader } from '../store.ts';
import { dateColumns } from '../subscription-filter.ts';
import { countKeys, toCountedRow } from './counted-row.ts';
import {
  dateOfSeries,
  productOfSeries,
  type Span,
  type SpanLevel,
  seriesOfFilter,
  spanColumns,
  spanLevel,
  toSpan,
} from './span.ts';
import { addCount, groupLeavesMax, joinSpans, leafRowsMax } from './span-tree.ts';

interface CountsCheck {
  /** Records that the tenant has. */
  readonly rows: number;
  /** One message for each incorrect span; empty if all counts are correct. */
  readonly problems: readonly string[];
}

/**
 * Compares each leaf of a tenant's trees with its rows, and each other span with its children.
 * `onProgress` receives the share that is done, from 0 to 1.
 */
export async function checkCounts(
  reader: TenantReader,
  onProgress: (share: number) => void = () => undefined,
): Promise<CountsCheck> {
  const stored = await reader.all(
    `select ${spanColumns} from subscription_span where tenant_id = $1 order by series, level, from_date, from_id`,
  );
  const bySeries = Map.groupBy(stored.map(toSpan), ({ series }) => series);
  const [counted] = await reader.all('select count(*) as n from subscription where tenant_id = $1');
  const rows = Number(counted?.n ?? 0);
  const roots = [...bySeries.values()].flatMap((spans) => spans.filter(({ level }) => level === spanLevel.root));
  const products = roots.reduce((sum, { series, n }) => (productOfSeries(series) === undefined ? sum : sum + n), 0);
  const problems: string[] = [];
  for (const column of dateColumns) {
    const n = roots.find(({ series }) => series === seriesOfFilter({ dateColumn: column }))?.n ?? 0;
    if (n !== rows) problems.push(`All records are counted by ${column} as ${n}, there are ${rows}`);
  }
  if (products !== rows) problems.push(`The records of all products are counted as ${products}, there are ${rows}`);
  let checked = 0;
  for (const [series, spans] of bySeries) {
    problems.push(...shapeProblems(series, spans));
    const leaves = spans.filter(({ level }) => level === spanLevel.leaf);
    const before = checked / stored.length;
    const share = spans.length / stored.length;
    problems.push(...(await rowProblems(reader, series, leaves, (done) => onProgress(before + done * share))));
    checked += spans.length;
  }
  return { rows, problems };
}

/**
 * Checks that each level of a tree covers it, agrees with the level below, and keeps its bounds.
 */
function shapeProblems(series: string, spans: readonly Span[]): string[] {
  const ofLevel = (level: SpanLevel) => spans.filter((span) => span.level === level);
  const [leaves, groups, roots] = [ofLevel(spanLevel.leaf), ofLevel(spanLevel.group), ofLevel(spanLevel.root)];
  if (roots.length !== 1) return [`Series ${series} has ${roots.length} roots, it must have one`];
  const problems = [leaves, groups, roots]
    .filter(([first]) => first === undefined || compareOrderKeys(first.from, firstOrderKey) !== 0)
    .map(() => `Series ${series} does not begin before every record`);
  for (const [parents, children, max] of [
    [roots, groups, Number.POSITIVE_INFINITY],
    [groups, leaves, groupLeavesMax],
  ] as const) {
    for (const [index, parent] of parents.entries()) {
      const until = parents[index + 1]?.from ?? endOrderKey;
      const below = children.filter(
        ({ from }) => compareOrderKeys(from, parent.from) >= 0 && compareOrderKeys(from, until) < 0,
      );
      const [first, ...others] = below;
      const same = first !== undefined && compareOrderKeys(first.from, parent.from) === 0;
      if (!same || !equalCounts(joinSpans(parent.level, [first, ...others]), parent))
        problems.push(`${nameOf(parent)} does not count what the spans below it do`);
      if (below.length > max)
        problems.push(`${nameOf(parent)} holds ${below.length} spans, at most ${max} are allowed`);
    }
  }
  return problems;
}

/** Checks that each leaf counts its rows. */
async function rowProblems(
  reader: TenantReader,
  series: string,
  leaves: readonly Span[],
  onProgress: (share: number) => void,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, leaf] of leaves.entries()) {
    onProgress(index / leaves.length);
    const actual = await countSpan(reader, series, leaf.from, leaves[index + 1]?.from ?? endOrderKey);
    if (!equalCounts(actual, leaf)) problems.push(`${nameOf(leaf)} counts ${leaf.n} records, there are ${actual.n}`);
    if (leaf.n > leafRowsMax)
      problems.push(`${nameOf(leaf)} holds ${leaf.n} records, at most ${leafRowsMax} are allowed`);
  }
  return problems;
}

/**
 * Counts the rows of a leaf. PostgreSQL estimates the rows between two pairs as a ninth of the
 * table, and then starts parallel workers, which cost more than a leaf: so the dates are compared
 * alone too. Plans are only counted in the trees of products: eight plans in the
 * others would return eight times as many rows.
 */
async function countSpan(reader: TenantReader, series: string, from: OrderKey, until: OrderKey): Promise<Span> {
  const product = productOfSeries(series);
  const date = dateOfSeries(series);
  const columns = product === undefined ? 'status, auto_renew' : 'status, auto_renew, plan_id';
  const rows = await reader.all(
    `select ${columns}, count(*) as n from subscription where tenant_id = $1
      and ${date} >= $2 and (${date}, id) >= ($2, $3) and ${date} <= $4 and (${date}, id) < ($4, $5)
      ${product === undefined ? '' : 'and product_id = $6'} group by ${columns}`,
    [from.date, from.id, until.date, until.id, ...(product === undefined ? [] : [product])],
  );
  const counts: Record<string, number> = {};
  for (const row of rows) for (const key of countKeys(series, toCountedRow(row))) addCount(counts, key, Number(row.n));
  return { series, level: spanLevel.leaf, from, n: rows.reduce((sum, { n }) => sum + Number(n), 0), counts };
}

const equalCounts = (a: Span, b: Span): boolean =>
  a.n === b.n &&
  Object.keys(a.counts).length === Object.keys(b.counts).length &&
  Object.entries(a.counts).every(([key, n]) => b.counts[key] === n);

const nameOf = ({ series, level, from }: Span): string => `Span '${series}' ${level} ${from.date} ${from.id}`.trimEnd();
