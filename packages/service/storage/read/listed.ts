import type { SqlValue, Store, TenantReader, TenantSql } from '../store.ts';
import { binder, columnOfList, type ListColumn } from '../subscription-filter.ts';
import type { PageStore } from './page-statements.ts';
import { type PastRevision, pastRows } from './past.ts';

/** A page store whose statements read the snapshot of a reader. */
export const pageStoreOf = (engine: Store['engine'], reader: TenantReader): PageStore => ({
  engine,
  readTenant: (_tenant, work) => work(reader),
  readTenantOnce: (_tenant, { sql, values }) => reader.all(sql, values),
});

/**
 * Finds the values of a list that no record of the tenant has, whatever the other filters, at a
 * revision or of the present. Returns their positions; of a value that is listed twice, the first.
 * Reads the index entries of the listed values.
 */
export async function findMissing(
  reader: TenantReader,
  name: ListColumn,
  list: readonly string[],
  at: PastRevision = { revision: 0, current: 0 },
): Promise<readonly number[]> {
  const values: SqlValue[] = [];
  const column = columnOfList(name);
  const rows = pastRows({ dateColumn: 'created_date', [name]: list }, column, at, binder(values));
  const found = await reader.all(`select distinct ${column} from (${rows}) as listed` as TenantSql, values);
  const seen = new Set(found.map((row) => row[column]));
  return list.flatMap((value, position) => {
    if (seen.has(value)) return [];
    seen.add(value);
    return [position];
  });
}
