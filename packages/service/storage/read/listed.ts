import type { SqlValue, Store, TenantReader, TenantSql } from '../store.ts';
import { binder, columnOfList, type ListColumn } from '../subscription-filter.ts';
import { type PageStore, revisionColumn } from './page-statements.ts';
import { type PastRevision, pastRows } from './past.ts';

/** A page store whose statements read the snapshot of a reader. */
export const pageStoreOf = (engine: Store['engine'], reader: TenantReader): PageStore => ({
  engine,
  readTenant: (_tenant, work) => work(reader),
  readTenantOnce: (_tenant, statements) => Promise.all(statements.map(({ sql, values }) => reader.all(sql, values))),
});

/** Which values of a list are found. */
export interface FoundValues {
  /** The positions of the values that no record has; of a value that is listed twice, the first. */
  readonly missing: readonly number[];
  /** How many records have one of the values. */
  readonly records: number;
  /** The tenant's revision; `undefined` if no record has one of the values. */
  readonly revision: number | undefined;
}

/**
 * Looks the values of a list up, whatever the other filters, among the tenant's records at a
 * revision, or of the present. Reads the index entries of the listed values.
 */
export async function findListed(
  reader: TenantReader,
  name: ListColumn,
  list: readonly string[],
  at: PastRevision = { revision: 0, current: 0 },
): Promise<FoundValues> {
  const values: SqlValue[] = [];
  const column = columnOfList(name);
  const rows = pastRows({ dateColumn: 'created_date', [name]: list }, column, at, binder(values));
  const sql = `select ${column}, count(*) as n, ${revisionColumn} from (${rows}) as listed group by ${column}`;
  const found = await reader.all(sql as TenantSql, values);
  const seen = new Set(found.map((row) => row[column]));
  const missing = list.flatMap((value, position) => {
    if (seen.has(value)) return [];
    seen.add(value);
    return [position];
  });
  const records = found.reduce((sum, { n }) => sum + Number(n), 0);
  return { missing, records, revision: found[0] && Number(found[0].revision) };
}
