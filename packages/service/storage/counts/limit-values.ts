import { StorageError } from '../error.ts';
import type { TenantSql } from '../store.ts';
import { ask, type CountWork } from './count-work.ts';
import { planKeys, productOfSeries, productPrefix, type Span, statusKeys, wholeSeries } from './span.ts';

/**
 * Maximum number of distinct values in the records of a tenant. Each load writes the counts of all
 * its statuses and of the plans of its products, and a query by plan reads the counts of all
 * products (docs/decisions/counts.md#values).
 */
export const valuesMax = { statuses: 200, products: 5_000, plans: 1_000 } as const;

type LimitedValues = keyof typeof valuesMax;

const described: Readonly<Record<LimitedValues, string>> = {
  statuses: 'distinct values of status',
  products: 'distinct products',
  plans: 'distinct plans of one product',
};

/** Throws `StorageError` `OVER_BUDGET` if a change raises the number of values above the limit. */
function requireFew(values: LimitedValues, before: number, after: number): void {
  const max = valuesMax[values];
  if (after <= max || after <= before) return;
  throw new StorageError(
    'OVER_BUDGET',
    `Cannot store the records: those of a tenant must have at most ${max} ${described[values]}: with these they have ${after}`,
  );
}

/** Does so for all values that the trees of a tenant count, given the changed roots. */
export function* requireFewValues(before: readonly Span[], after: readonly Span[]): CountWork {
  const stored = new Map(before.map((root) => [root.series, root]));
  const isProduct = ({ series, n }: Span): boolean => n > 0 && productOfSeries(series) !== undefined;
  for (const { series, counts } of after) {
    const old = stored.get(series)?.counts ?? {};
    if (series === wholeSeries) requireFew('statuses', statusKeys(old).length, statusKeys(counts).length);
    else if (productOfSeries(series) !== undefined) requireFew('plans', planKeys(old).length, planKeys(counts).length);
  }
  const added = after.filter(isProduct).length - before.filter(isProduct).length;
  if (added <= 0) return;
  const [[counted] = []] = yield [ask(countProductTrees, valuesMax.products + 1)];
  const known = Number(counted?.n ?? 0);
  requireFew('products', known, known + added);
}

/**
 * A `with` clause of the trees of up to `$2` products; the last one is null. Steps from series to
 * series, past their groups and leaves.
 */
export const productSeries = `with recursive product (series, nth) as (
    select min(series), cast(1 as bigint) from subscription_span where tenant_id = $1 and series >= '${productPrefix}'
    union all
    select (select min(series) from subscription_span where tenant_id = $1 and series > product.series), nth + 1
    from product where series is not null and nth < $2
  )` as const;

const countProductTrees: TenantSql = `${productSeries}
  select count(*) as n from product where series is not null`;
