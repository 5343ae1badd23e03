import type { Row, TenantReader } from '../store.ts';
import type { SubscriptionFilter } from '../subscription-filter.ts';
import { type StatusCounts, statusCounts } from './intervals.ts';
import { readRange } from './range.ts';
import { productOfSeries, spanColumns, toSpan, wholeSeries } from './span.ts';

/** What the counts of a bound cost, in rows that could be read instead. */
const rowsOfBound = 500;

/**
 * All records of a filter's product, or of all products, by status: one row of counts. Bounds are
 * not looked at.
 */
export async function countStatuses(
  reader: TenantReader,
  filter: SubscriptionFilter,
  series: string,
): Promise<StatusCounts> {
  const [row] = await reader.all(
    `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2 and level = 2`,
    [series],
  );
  return new Map(row === undefined ? [] : statusCounts(filter, toSpan(row)));
}

/**
 * Counts the records of a filter that `isCounted` by product, from the counts of each product;
 * `undefined` when its bounds leave so few records to so many products that reading the records is
 * less work. `total` is that of the filter.
 */
export async function countProducts(
  reader: TenantReader,
  filter: SubscriptionFilter,
  total: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const { productId, afterSeconds, beforeSeconds } = filter;
  if (productId !== undefined) return new Map([[productId, total]]);
  const bounds = [afterSeconds, beforeSeconds].filter((bound) => bound !== undefined).length;
  const spans = (await readProducts(reader)).map(toSpan);
  if (spans.length * bounds * rowsOfBound > total) return undefined;
  const counted = spans.map(async (span): Promise<[string, number]> => {
    const product = productOfSeries(span.series) ?? '';
    if (bounds > 0) return [product, (await readRange(reader, { ...filter, productId: product })).total];
    return [product, statusCounts(filter, span).reduce((sum, [, n]) => sum + n, 0)];
  });
  return new Map(await Promise.all(counted));
}

/**
 * The counts of each product as a whole, found from one to the next: their spans lie between them
 * in the index.
 */
function readProducts(reader: TenantReader): Promise<readonly Row[]> {
  return reader.all(
    `with recursive product (series) as (
      select min(series) from subscription_span where tenant_id = $1 and series > '${wholeSeries}'
      union all
      select (select min(series) from subscription_span where tenant_id = $1 and series > product.series)
      from product where series is not null
    )
    select ${spanColumns} from subscription_span where tenant_id = $1 and level = 2
      and series in (select series from product where series is not null)`,
  );
}
