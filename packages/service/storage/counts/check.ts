import { compareOrderKeys, endOrderKey, firstOrderKey, type OrderKey } from '../order-key.ts';
import type { Row, TenantReader } from '../store.ts';
import { dateColumns } from '../subscription-filter.ts';
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

/** Leaves that are in memory at a time: a tenant can have a hundred thousand. */
const leavesRead = 1_000;

/**
 * Compares each leaf of a tenant's trees with its rows, and each other span with its children.
 * `onProgress` receives the share that is done, from 0 to 1.
 */
export async function checkCounts(
  reader: TenantReader,
  onProgress: (share: number) => void = () => undefined,
): Promise<CountsCheck> {
  const [counted] = await reader.all('select count(*) as n from subscription where tenant_id = $1');
  const rows = Number(counted?.n ?? 0);
  const problems = await sumProblems(reader, rows);
  const trees = await reader.all(selectTrees);
  const all = trees.reduce((sum, { spans }) => sum + Number(spans), 0);
  let checked = 0;
  for (const { series, spans } of trees) {
    const onLeaves = (leaves: number) => onProgress((checked + leaves) / all);
    problems.push(...(await treeProblems(reader, String(series), onLeaves)));
    checked += Number(spans);
  }
  return { rows, problems };
}

const selectTrees =
  'select series, count(*) as spans from subscription_span where tenant_id = $1 group by series order by series' as const;

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

/**
 * Checks that each level of a tree begins before every record, agrees with the level below and
 * keeps its bounds, and that each leaf counts its rows.
 */
async function treeProblems(
  reader: TenantReader,
  series: string,
  onLeaves: (checked: number) => void,
): Promise<string[]> {
  const upper = (await reader.all(selectUpper, [series])).map(toCheckedSpan);
  const groups = upper.filter(({ level }) => level === spanLevel.group);
  const roots = upper.filter(({ level }) => level === spanLevel.root);
  const [overGroups, overLeaves] = [new SumCheck(roots), new SumCheck(groups, groupLeavesMax)];
  for (const group of groups) overGroups.add(group);
  const ofRows: string[] = [];
  let [first, checked]: [Span | undefined, number] = [undefined, 0];
  for await (const { leaf, until } of readLeaves(reader, series)) {
    first ??= leaf;
    overLeaves.add(leaf);
    ofRows.push(...(await rowProblems(reader, leaf, until)));
    checked += 1;
    onLeaves(checked);
  }
  if (roots.length !== 1) return [`Series ${series} has ${roots.length} roots, it must have one`, ...ofRows];
  const ofStarts = [first, groups[0], roots[0]]
    .filter((span) => span === undefined || compareOrderKeys(span.from, firstOrderKey) !== 0)
    .map(() => `Series ${series} does not begin before every record`);
  return [...ofStarts, ...overGroups.problems(), ...overLeaves.problems(), ...ofRows];
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

interface EndedLeaf {
  readonly leaf: Span;
  readonly until: OrderKey;
}

/** The leaves of a tree in their order. */
async function* readLeaves(reader: TenantReader, series: string): AsyncGenerator<EndedLeaf> {
  for (let from: OrderKey | undefined = firstOrderKey; from !== undefined; ) {
    const rows: readonly Row[] = await reader.all(selectLeaves, [series, from.date, from.id, leavesRead + 1]);
    const leaves = rows.map(toCheckedSpan);
    for (const [index, leaf] of leaves.slice(0, leavesRead).entries())
      yield { leaf, until: leaves[index + 1]?.from ?? endOrderKey };
    from = leaves[leavesRead]?.from;
  }
}

const selectLeaves =
  `${spansSql({ series: '$2', level: spanLevel.leaf, from: '($3, $4)', end: `< (${endOrderKey.date}, '')` })}
  order by from_date, from_id limit $5` as const;

/** Compares the spans of a level with the sums of their children, which are added in order. */
class SumCheck {
  readonly #parents: readonly Span[];
  readonly #childrenMax: number;
  readonly #problems: string[] = [];
  /** Index of the parent of the last child. */
  #at = -1;
  #sum: Span | undefined;
  #children = 0;

  constructor(parents: readonly Span[], childrenMax = Number.POSITIVE_INFINITY) {
    this.#parents = parents;
    this.#childrenMax = childrenMax;
  }

  add(child: Span): void {
    for (;;) {
      const next = this.#parents[this.#at + 1];
      if (next === undefined || compareOrderKeys(next.from, child.from) > 0) break;
      this.#endParent();
    }
    this.#sum = this.#sum === undefined ? child : joinSpans(child.level, [this.#sum, child]);
    this.#children += 1;
  }

  /** One sentence for each parent that is wrong, once all children were added. */
  problems(): readonly string[] {
    while (this.#at < this.#parents.length) this.#endParent();
    return this.#problems;
  }

  #endParent(): void {
    const parent = this.#parents[this.#at];
    if (parent !== undefined) {
      const [sum, n] = [this.#sum, this.#children];
      const begins = sum !== undefined && compareOrderKeys(sum.from, parent.from) === 0;
      if (!begins || !equalCounts(sum, parent))
        this.#problems.push(`${nameOf(parent)} does not count what the spans below it do`);
      if (n > this.#childrenMax)
        this.#problems.push(`${nameOf(parent)} holds ${n} spans, at most ${this.#childrenMax} are allowed`);
    }
    this.#at += 1;
    this.#sum = undefined;
    this.#children = 0;
  }
}

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
