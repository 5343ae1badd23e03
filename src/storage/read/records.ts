import { readRange } from '../counts/range.ts';
import type { LineBatch, SqlValue, TenantReader, TenantSnapshot, TenantSql } from '../store.ts';
import { binder, rowsFrom, type SubscriptionFilter } from '../subscription-filter.ts';
import type { SubscriptionOrder } from './page-sql.ts';

/** Streams the JSON of all records of a filter, in an order, up to `batchRows` at a time. */
export function streamRecords(
  snapshot: TenantSnapshot,
  filter: SubscriptionFilter,
  { column, descending }: SubscriptionOrder,
  batchRows: number,
): AsyncIterable<LineBatch> {
  const values: SqlValue[] = [];
  const rows = rowsFrom(filter, `${column}, id, record`, binder(values));
  const direction = descending ? 'desc' : 'asc';
  const sql = `select record ${rows} order by ${column} ${direction}, id ${direction}` as TenantSql;
  return snapshot.streamLines(sql, values, batchRows);
}

export async function countMatching(reader: TenantReader, filter: SubscriptionFilter): Promise<number> {
  return (await readRange(reader, filter)).total;
}

/** The JSON text of one record, or `undefined` if the tenant has none with this id. */
export async function readRecord(reader: TenantReader, id: string): Promise<string | undefined> {
  const [row] = await reader.all('select record from subscription where tenant_id = $1 and id = $2', [id]);
  return row === undefined ? undefined : String(row.record);
}
