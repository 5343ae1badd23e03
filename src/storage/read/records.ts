import { readRange } from '../counts/range.ts';
import type { LineBatch, SqlValue, TenantReader, TenantSnapshot, TenantSql } from '../store.ts';
import { binder, countedFilter, rowsFrom, type SubscriptionFilter, selectsOne } from '../subscription-filter.ts';
import { recordOfFound, type SubscriptionOrder } from './page-sql.ts';
import { alongPath, choosePath, narrowest, orderPath, readPaths, readsProduct } from './path.ts';

/** Streams the JSON of all records of a filter, in an order, up to `batchRows` at a time. */
export async function* streamRecords(
  snapshot: TenantSnapshot,
  filter: SubscriptionFilter,
  { column, descending }: SubscriptionOrder,
  batchRows: number,
): AsyncIterable<LineBatch> {
  const path = orderPath(filter, column);
  const isInOrder = selectsOne(filter) || countedFilter(filter, column) !== undefined;
  const paths = isInOrder ? undefined : await readPaths(snapshot, filter);
  const along = paths === undefined ? path : choosePath(paths.widths, readsProduct(filter), path);
  const isSorted = paths !== undefined && along !== path;
  const values: SqlValue[] = [];
  const rows = rowsFrom(isSorted ? alongPath(filter, along, paths) : filter, `${column}, id, record`, binder(values));
  const direction = descending ? 'desc' : 'asc';
  // the keys are sorted before their records are read
  const sql = isSorted
    ? `with found as materialized (select ${column} as date, id ${rows} order by ${column} ${direction}, id ${direction})
      select ${recordOfFound} as record from found order by date ${direction}, id ${direction}`
    : `select record ${rows} order by ${column} ${direction}, id ${direction}`;
  yield* snapshot.streamLines(sql as TenantSql, values, batchRows);
}

export async function countMatching(reader: TenantReader, filter: SubscriptionFilter): Promise<number> {
  return (await readRange(reader, await narrowest(reader, filter))).total;
}

/** The JSON text of one record, or `undefined` if the tenant has none with this id. */
export async function readRecord(reader: TenantReader, id: string): Promise<string | undefined> {
  const [row] = await reader.all('select record from subscription where tenant_id = $1 and id = $2', [id]);
  return row === undefined ? undefined : String(row.record);
}
