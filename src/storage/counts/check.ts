import { compareKeys, endKey, firstKey, type OrderKey } from '../order-key.ts';
import type { TenantReader } from '../store.ts';
import {
  groupSpansMax,
  joinSpans,
  productOfSeries,
  type Span,
  spanColumns,
  spanRowsMax,
  toSpan,
  wholeSeries,
} from './span.ts';

/** What a check of one tenant's counts found. */
interface CountsCheck {
  /** Records of the tenant, as they are. */
  readonly rows: number;
  /** Sentences, one for each span that does not count what is there; empty when all is well. */
  readonly problems: readonly string[];
}

/**
 * Compares all kept counts of a tenant with its rows: each span of level 0 with the rows between
 * its keys, each higher one with those below it.
 */
export async function checkCounts(reader: TenantReader): Promise<CountsCheck> {
  const stored = await reader.all(
    `select ${spanColumns} from subscription_span where tenant_id = $1 order by series, level, from_date, from_id`,
  );
  const bySeries = Map.groupBy(stored.map(toSpan), ({ series }) => series);
  const [counted] = await reader.all('select count(*) as n from subscription where tenant_id = $1');
  const rows = Number(counted?.n ?? 0);
  const roots = [...bySeries.values()].flatMap((spans) => spans.filter(({ level }) => level === 2));
  const whole = roots.find(({ series }) => series === wholeSeries)?.n ?? 0;
  const products = roots.reduce((sum, { series, n }) => (series === wholeSeries ? sum : sum + n), 0);
  const problems: string[] = [];
  if (whole !== rows) problems.push(`All records are counted as ${whole}, there are ${rows}`);
  if (products !== rows) problems.push(`The records of all products are counted as ${products}, there are ${rows}`);
  for (const [series, spans] of bySeries) {
    problems.push(...shapeProblems(series, spans));
    problems.push(
      ...(await rowProblems(
        reader,
        series,
        spans.filter(({ level }) => level === 0),
      )),
    );
  }
  return { rows, problems };
}

/**
 * Whether the spans of one series cover it on each level, agree from level to level, and keep their
 * bounds.
 */
function shapeProblems(series: string, spans: readonly Span[]): string[] {
  const [leaves, groups, roots] = ([0, 1, 2] as const).map((level) => spans.filter((span) => span.level === level));
  if (leaves === undefined || groups === undefined || roots?.length !== 1) return [`Series ${series} has not one root`];
  const problems = [leaves, groups, roots]
    .filter(([first]) => first === undefined || compareKeys(first.from, firstKey) !== 0)
    .map(() => `Series ${series} does not begin before every record`);
  for (const [parents, children, max] of [
    [roots, groups, Number.POSITIVE_INFINITY],
    [groups, leaves, groupSpansMax],
  ] as const) {
    for (const [index, parent] of parents.entries()) {
      const until = parents[index + 1]?.from ?? endKey;
      const below = children.filter(({ from }) => compareKeys(from, parent.from) >= 0 && compareKeys(from, until) < 0);
      const [first, ...others] = below;
      const same = first !== undefined && compareKeys(first.from, parent.from) === 0;
      if (!same || !equalCounts(joinSpans(parent.level, [first, ...others]), parent))
        problems.push(`${nameOf(parent)} does not count what the spans below it do`);
      if (below.length > max)
        problems.push(`${nameOf(parent)} holds ${below.length} spans, at most ${max} are allowed`);
    }
  }
  return problems;
}

/** Whether each span of level 0 counts the rows between its key and the next one. */
async function rowProblems(reader: TenantReader, series: string, leaves: readonly Span[]): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, leaf] of leaves.entries()) {
    const actual = await countSpan(reader, series, leaf.from, leaves[index + 1]?.from ?? endKey);
    if (!equalCounts(actual, leaf)) problems.push(`${nameOf(leaf)} counts ${leaf.n} records, there are ${actual.n}`);
    if (leaf.n > spanRowsMax)
      problems.push(`${nameOf(leaf)} holds ${leaf.n} records, at most ${spanRowsMax} are allowed`);
  }
  return problems;
}

async function countSpan(reader: TenantReader, series: string, from: OrderKey, until: OrderKey): Promise<Span> {
  const product = productOfSeries(series);
  const rows = await reader.all(
    `select status, count(*) as n from subscription where tenant_id = $1 and (created_date, id) >= ($2, $3)
      and (created_date, id) < ($4, $5)${product === undefined ? '' : ' and product_id = $6'} group by status`,
    [from.date, from.id, until.date, until.id, ...(product === undefined ? [] : [product])],
  );
  const statuses: Record<string, number> = {};
  for (const { status, n } of rows) if (status !== null) statuses[String(status)] = Number(n);
  return { series, level: 0, from, n: rows.reduce((sum, { n }) => sum + Number(n), 0), statuses };
}

const equalCounts = (a: Span, b: Span): boolean =>
  a.n === b.n &&
  Object.keys(a.statuses).length === Object.keys(b.statuses).length &&
  Object.entries(a.statuses).every(([status, n]) => b.statuses[status] === n);

const nameOf = ({ series, level, from }: Span): string => `Span '${series}' ${level} ${from.date} ${from.id}`.trimEnd();
