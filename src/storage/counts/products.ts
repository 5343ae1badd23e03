import type { Row, TenantReader } from '../store.ts';
import type { SubscriptionFilter } from '../subscription-filter.ts';
import { type StatusCounts, statusCounts } from './intervals.ts';
import { readRange } from './range.ts';
import { productOfSeries, seriesOfFilter, spanColumns, spanLevel, toSpan, wholeSeries } from './span.ts';

/** The cost of ranking one bound, in rows that could be read instead. */
const rowsOfBound = 500;

/** All rows of a filter's product and statuses by status: one read of the root. Ignores bounds. */
export async function countStatuses(reader: TenantReader, filter: SubscriptionFilter): Promise<StatusCounts> {
  const [row] = await reader.all(
    `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.root}`,
    [seriesOfFilter(filter)],
  );
  return new Map(row === undefined ? [] : statusCounts(filter, toSpan(row)));
}

/**
 * Counts the `total` rows of a filter that `isCounted` by product, from the tree of each product.
 * `undefined` if reading the rows is less work: few rows between bounds, and many products.
 */
export async function countProducts(
  reader: TenantReader,
  filter: SubscriptionFilter,
  total: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const { productId, afterSeconds, beforeSeconds } = filter;
  if (productId !== undefined) return new Map([[productId, total]]);
  const bounds = [afterSeconds, beforeSeconds].filter((bound) => bound !== undefined).length;
  const roots = (await readProductRoots(reader)).map(toSpan);
  if (roots.length * bounds * rowsOfBound > total) return undefined;
  const counted = roots.map(async (root): Promise<[string, number]> => {
    const product = productOfSeries(root.series) ?? '';
    if (bounds > 0) return [product, (await readRange(reader, { ...filter, productId: product })).total];
    return [product, statusCounts(filter, root).reduce((sum, [, n]) => sum + n, 0)];
  });
  return new Map(await Promise.all(counted));
}

/** The root of each product's tree. Steps from series to series, past their groups and leaves. */
function readProductRoots(reader: TenantReader): Promise<readonly Row[]> {
  return reader.all(
    `with recursive product (series) as (
      select min(series) from subscription_span where tenant_id = $1 and series > '${wholeSeries}'
      union all
      select (select min(series) from subscription_span where tenant_id = $1 and series > product.series)
      from product where series is not null
    )
    select ${spanColumns} from subscription_span where tenant_id = $1 and level = ${spanLevel.root}
      and series in (select series from product where series is not null)`,
  );
}
