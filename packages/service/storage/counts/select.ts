import type { Bind, SubscriptionFilter } from '../subscription-filter.ts';
import { countsSql } from './range.ts';
import { type SpanLevel, spanLevel } from './span.ts';

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
