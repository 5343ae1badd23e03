import type { SqlValue, TenantReader, TenantSql } from '../store.ts';
import { binder } from '../subscription-filter.ts';

/**
 * Products that one statement reads. Each number of products is a prepared statement of its own.
 */
const productsPerStatement = 20;

/**
 * Returns the name of each product in the last of its records in the default order. Costs one step
 * in an index and one record per product. Products without a record are absent.
 */
export async function readProductNames(
  reader: TenantReader,
  products: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (let from = 0; from < products.length; from += productsPerStatement) {
    const some = products.slice(from, from + productsPerStatement);
    const records = await readLastRecords(reader, some);
    for (const [index, product] of some.entries()) {
      const name = nameIn(records[index] ?? null);
      if (name !== undefined) names.set(product, name);
    }
  }
  return names;
}

/** Subqueries, because Citus joins no distributed table laterally to a list of values. */
async function readLastRecords(reader: TenantReader, products: readonly string[]): Promise<readonly SqlValue[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const columns = products.map(
    (product, index) =>
      `(select record from subscription where tenant_id = $1 and product_id = ${bind(product)}
        order by created_date desc, id desc limit 1) as record_${index}`,
  );
  // every subquery compares `tenant_id`
  const [row] = await reader.all(`select ${columns.join(', ')}` as TenantSql, values);
  return products.map((_, index) => row?.[`record_${index}`] ?? null);
}

/** The product's name in the JSON text of a record. */
function nameIn(record: SqlValue): string | undefined {
  if (typeof record !== 'string') return undefined;
  const { product } = JSON.parse(record) as { readonly product?: { readonly name?: string } };
  return product?.name;
}
