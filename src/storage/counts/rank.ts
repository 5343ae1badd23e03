import { and, type Bind, countedPart, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import { seriesOfFilter, spanLevel } from './span.ts';

/** SQL of the counts of a filter: the series, and a span's rows of the filter's statuses. */
interface CountsSql {
  readonly series: string;
  readonly n: string;
}

export function countsSql(filter: SubscriptionFilter, bind: Bind): CountsSql {
  const { statuses } = filter;
  const series = bind(seriesOfFilter(filter));
  if (statuses === undefined) return { series, n: 'n' };
  const each = [...new Set(statuses)].map(
    (status) => `coalesce(cast(statuses ->> cast(${bind(status)} as text) as bigint), 0)`,
  );
  return { series, n: each.join(' + ') };
}

/** SQL of how many rows have a filter's product and statuses: one read of the root. */
export function totalSql(filter: SubscriptionFilter, bind: Bind): string {
  const { series, n } = countsSql(filter, bind);
  return `coalesce((select ${n} from subscription_span where tenant_id = $1 and series = ${series} and level = ${spanLevel.root}), 0)`;
}

/**
 * SQL of the rank of a second: how many rows of a filter's product and statuses were created before
 * it. Adds up the groups before it, the leaves before it in its own group, and the rows before it
 * in its own leaf, at most `leafRowsMax`. SQLite would compare a row value of two columns by its
 * date alone, so ids are expressions. It also compares row values again for each row that it
 * counts, which the date alone avoids. Looking the two keys up where they are used costs no more
 * than a `with` clause.
 */
export function rankSql(filter: SubscriptionFilter, seconds: number, bind: Bind): string {
  const { series, n } = countsSql(filter, bind);
  const conditions = filterConditions(countedPart(filter), bind);
  const date = bind(seconds);
  const { leaf, group } = spanLevel;
  const keyAt = (level: typeof leaf | typeof group): string =>
    `(select from_date, coalesce(from_id, '') from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) <= (${date}, '') order by from_date desc, from_id desc limit 1)`;
  return `((
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and series = ${series} and level = ${group}
        and (from_date, from_id) < ${keyAt(group)}
    ) + (
      select coalesce(cast(sum(${n}) as bigint), 0) from subscription_span where tenant_id = $1 and series = ${series} and level = ${leaf}
        and (from_date, from_id) >= ${keyAt(group)} and (from_date, from_id) < ${keyAt(leaf)}
    ) + (
      select count(*) from subscription where tenant_id = $1${and(conditions)}
        and (created_date, id) >= ${keyAt(leaf)} and created_date < ${date}
    ))`;
}
