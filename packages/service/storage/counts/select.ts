import { endOrderKey, type OrderKey } from '../order-key.ts';
import type { SqlValue, TenantReader } from '../store.ts';
import { type Bind, binder, type SubscriptionFilter } from '../subscription-filter.ts';
import { countsSql } from './range.ts';
import { type SpanLevel, spanLevel, spansSql } from './span.ts';

/** Where a row lies: a leaf, and a row of it. */
export interface LeafPosition {
  readonly from: OrderKey;
  /** The first order key after the leaf. */
  readonly until: OrderKey;
  /** Rows of the leaf before it; only those of the filter's `countedPart` count here and in `n`. */
  readonly skip: number;
  /** Rows of the leaf. */
  readonly n: number;
}

/** Finds the row of a rank among a filter's `countedPart`; `undefined` past the last row. */
type Select = (rank: number) => Promise<LeafPosition | undefined>;

/**
 * Prepares to select in the stored tree: reads the counts of all groups, then on each call the
 * leaves of one group. The process adds them up: a window function took SQLite three times as long.
 */
export async function openSelect(reader: TenantReader, filter: SubscriptionFilter): Promise<Select> {
  const groups = await readGroupCounts(reader, filter);
  return async (rank) => {
    const group = findRank(groups, rank);
    if (group === undefined) return undefined;
    const leaves = await readLeavesOfGroup(reader, filter, group.index);
    const counts = leaves.map(({ n }) => n);
    const leaf = findRank(counts, group.rest);
    const [found, next] = leaf === undefined ? [] : leaves.slice(leaf.index);
    if (leaf === undefined || found === undefined) return undefined;
    return { from: found.from, until: next?.from ?? endOrderKey, skip: leaf.rest, n: found.n };
  };
}

/**
 * SQL of `with` queries that find the row of a rank. The last one, `leaf`, returns the key of the
 * row's leaf and as `rest` the number of rows before it in the leaf, or no row for a rank below 0
 * or past the last row. A window reads its rows only up to the one that is found.
 */
export function selectSql(filter: SubscriptionFilter, rank: string, bind: Bind): string {
  const { series, n } = countsSql(filter, bind);
  const find = (level: SpanLevel, rest: string, range = ''): string => `
      select from_date, from_id, ${rest} - (upto - (${n})) as rest from (
        select from_date, from_id, n, counts,
          sum(cast(${n} as integer)) over (order by from_date, from_id rows unbounded preceding) as upto
        from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}${range}
      ) as span where upto > ${rest} order by from_date, from_id limit 1`;
  const inGroup = " and (from_date, from_id) >= (select from_date, coalesce(from_id, '') from found_group)";
  return `wanted as (select rank from (select ${rank} as rank) as asked where rank >= 0),
    found_group as (${find(spanLevel.group, '(select rank from wanted)')}),
    leaf as (${find(spanLevel.leaf, '(select rest from found_group)', inGroup)})`;
}

/** Which of some counts holds the row of a rank, and how many of its rows lie before that row. */
function findRank(counts: readonly number[], rank: number): { index: number; rest: number } | undefined {
  let rest = rank;
  for (const [index, n] of counts.entries()) {
    if (rest < n) return { index, rest };
    rest -= n;
  }
  return undefined;
}

/** The counts of all groups as one string, which is faster than hundreds of rows. */
async function readGroupCounts(reader: TenantReader, filter: SubscriptionFilter): Promise<readonly number[]> {
  const values: SqlValue[] = [];
  const { series, n } = countsSql(filter, binder(values));
  const [row] = await reader.all(
    `select string_agg(cast(${n} as text), ' ' order by from_date, from_id) as numbers
    from subscription_span where tenant_id = $1 and series = ${series} and level = ${spanLevel.group}`,
    values,
  );
  return row?.numbers === null || row === undefined ? [] : String(row.numbers).split(' ').map(Number);
}

interface Leaf {
  readonly from: OrderKey;
  readonly n: number;
}

/**
 * Reads the leaves of the group at `groupIndex`, plus the first leaf of the next group: its key is
 * the upper bound of the group's last leaf.
 */
async function readLeavesOfGroup(
  reader: TenantReader,
  filter: SubscriptionFilter,
  groupIndex: number,
): Promise<readonly Leaf[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { series, n } = countsSql(filter, bind);
  const keyOfGroup = (index: number): string => `select from_date, coalesce(from_id, '') as at_id from subscription_span
      where tenant_id = $1 and series = ${series} and level = ${spanLevel.group} order by from_date, from_id limit 1 offset ${bind(index)}`;
  const keys = `first as (${keyOfGroup(groupIndex)}), next as (${keyOfGroup(groupIndex + 1)})`;
  const from = '(select from_date, at_id from first)';
  const end = `<= (coalesce((select from_date from next), ${endOrderKey.date}), coalesce((select at_id from next), ''))`;
  const leaves = spansSql({ series, level: spanLevel.leaf, from, end }, `from_date, from_id, ${n} as n`);
  const rows = await reader.all(`with ${keys} ${leaves} order by from_date, from_id`, values);
  return rows.map((row) => ({ from: { date: Number(row.from_date), id: String(row.from_id) }, n: Number(row.n) }));
}
