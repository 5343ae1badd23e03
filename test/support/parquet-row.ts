import { recordColumns } from '../../packages/contract/csv.ts';
import type { Subscription } from '../../packages/contract/subscription.ts';

/** A record as a row of the Parquet file. */
export function parquetRowOf({ product, ...record }: Subscription): Record<string, unknown> {
  const values: Record<string, unknown> = {
    ...record,
    auto_renew: record.auto_renew === 'true',
    ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`product.${name}`, value])),
  };
  for (const name of ['activationDate', 'expirationDate', 'createdDate']) values[name] = new Date(String(values[name]));
  return Object.fromEntries(recordColumns.map((name) => [name, values[name] ?? null]));
}
