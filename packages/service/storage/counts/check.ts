import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row, TenantReader } from '../store.ts';
import { dateColumns } from '../subscription-row.ts';
import { countKeys, toCountedRow } from './counted-row.ts';
import {
  dateOfSeries,
  productOfSeries,
  type Span,
  seriesOfFilter,
  spanColumns,
  spanLevel,
  spansSql,
  toSpan,
} from './span.ts';
import { addCount, groupLeavesMax, joinSpans, leafRowsMax } from './span-tree.ts';

interface CountsCheck {
  /** Records that the tenant has. */
  readonly rows: number;
  /** One message for each incorrect span; empty if all counts are correct. */
  readonly problems: readonly string[];
}

/** Compares each leaf of a tenant's trees with its rows, and each other span with its children. */
export async function checkCounts(reader: TenantReader): Promise<CountsCheck> {
  const [counted] = await reader.all('select count(*) as n from subscription where tenant_id = $1');
  const rows = Number(counted?.n ?? 0);
  const problems = await sumProblems(reader, rows);
  for (const { series } of await reader.all(selectSeries))
    problems.push(...(await treeProblems(reader, String(series))));
  return { rows, problems };
}

const selectSeries = 'select distinct series from subscription_span where tenant_id = $1 order by series' as const;

/** Checks that the trees of all records count them all, as do those of the products together. */
async function sumProblems(reader: TenantReader, rows: number): Promise<string[]> {
  const roots = await reader.all(
    `select series, n from subscription_span where tenant_id = $1 and level = ${spanLevel.root} order by series`,
  );
  const problems: string[] = [];
  for (const column of dateColumns) {
    const n = Number(roots.find(({ series }) => series === seriesOfFilter({ dateColumn: column }))?.n ?? 0);
    if (n !== rows) problems.push(`All records are counted by ${column} as ${n}, there are ${rows}`);
  }
  const ofProducts = roots.filter(({ series }) => productOfSeries(String(series)) !== undefined);
  const products = ofProducts.reduce((sum, { n }) => sum + Number(n), 0);
  if (products !== rows) problems.push(`The records of all products are counted as ${products}, there are ${rows}`);
  return problems;
}

/** Compares the levels of a tree, one group with its leaves at a time. */
async function treeProblems(reader: TenantReader, series: string): Promise<string[]> {
  const upper = (await reader.all(selectUpper, [series])).map(toCheckedSpan);
  const groups = upper.filter(({ level }) => level === spanLevel.group);
  const [root, ...others] = upper.filter(({ level }) => level === spanLevel.root);
  if (root === undefined || others.length > 0)
    return [`Series ${series} has ${upper.length - groups.length} roots, it must have one`];
  const problems = sumProblemsOf(root, groups);
  if (compareOrderKeys(root.from, firstOrderKey) !== 0)
    problems.push(`Series ${series} does not begin before every record`);
  for (const [index, group] of groups.entries()) {
    const until = groups[index + 1]?.from ?? endOrderKey;
    const range = [series, group.from.date, group.from.id, until.date, until.id];
    const leaves = (await reader.all(selectLeaves, range)).map(toCheckedSpan);
    problems.push(...sumProblemsOf(group, leaves, groupLeavesMax));
    for (const [at, leaf] of leaves.entries())
      problems.push(...(await rowProblems(reader, leaf, leaves[at + 1]?.from ?? until)));
  }
  return problems;
}

/** Compares a span with the sum of its children, which begin where it does. */
function sumProblemsOf(parent: Span, children: readonly Span[], childrenMax = Number.POSITIVE_INFINITY): string[] {
  const problems: string[] = [];
  const [first, ...others] = children;
  const sum = first && joinSpans(first.level, [first, ...others]);
  if (sum === undefined || compareOrderKeys(sum.from, parent.from) !== 0 || !equalCounts(sum, parent))
    problems.push(`${nameOf(parent)} does not count what the spans below it do`);
  if (children.length > childrenMax)
    problems.push(`${nameOf(parent)} holds ${children.length} spans, at most ${childrenMax} are allowed`);
  return problems;
}

const selectUpper = `select ${spanColumns} from subscription_span
  where tenant_id = $1 and series = $2 and level > ${spanLevel.leaf} order by level, from_date, from_id` as const;

/** A span as it is stored. Damaged counts become none, which differ from those of its rows. */
function toCheckedSpan(row: Row): Span {
  try {
    const span = toSpan(row);
    if (Object(span.counts) === span.counts) return span;
  } catch {
    // not JSON
  }
  return toSpan({ ...row, counts: '{}' });
}

const selectLeaves =
  `${spansSql({ series: '$2', level: spanLevel.leaf, from: '($3, $4)', end: '< ($5, $6)' })} order by from_date, from_id` as const;

/** Checks that a leaf counts its rows. */
async function rowProblems(reader: TenantReader, leaf: Span, until: OrderKey): Promise<string[]> {
  const problems: string[] = [];
  const actual = await countSpan(reader, leaf.series, leaf.from, until);
  if (actual.n !== leaf.n) problems.push(`${nameOf(leaf)} counts ${leaf.n} records, there are ${actual.n}`);
  else if (!equalCounts(actual, leaf)) problems.push(`${nameOf(leaf)} counts other values than its records have`);
  if (leaf.n > leafRowsMax)
    problems.push(`${nameOf(leaf)} holds ${leaf.n} records, at most ${leafRowsMax} are allowed`);
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
