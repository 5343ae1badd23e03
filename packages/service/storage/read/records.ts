import { rankIn, readRange } from '../counts/range.ts';
import { selectSql } from '../counts/select.ts';
import { seriesOfFilter, spanLevel } from '../counts/span.ts';
import { endOrderKey } from '../order-key.ts';
import type { LineBatch, SqlValue, TenantReader, TenantSnapshot, TenantSql } from '../store.ts';
import {
  binder,
  countedFilter,
  rowsFrom,
  type Scan,
  type SubscriptionFilter,
  selectsOne,
} from '../subscription-filter.ts';
import {
  cheapestScan,
  chooseIndex,
  countOfPlan,
  indexOfOrder,
  readSelectivity,
  readsProduct,
  scanOf,
} from './choose-index.ts';
import { allRowsSql, recordOfFound, type SubscriptionOrder } from './page-sql.ts';

/** Streams the JSON of all records of a filter, in an order, up to `batchRows` at a time. */
export async function* streamRecords(
  snapshot: TenantSnapshot,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  batchRows: number,
): AsyncIterable<LineBatch> {
  const { column, descending } = order;
  const counted = selectsOne(filter) ? undefined : countedFilter(filter, column);
  const selectivity = selectsOne(filter) || counted !== undefined ? undefined : await readSelectivity(snapshot, filter);
  const inOrder = indexOfOrder(filter, column, selectivity);
  const index = selectivity === undefined ? inOrder : chooseIndex(selectivity.entries, readsProduct(filter), inOrder);
  const from = counted && (await fromFirst(snapshot, counted, descending));
  const asked: Scan = selectivity === undefined ? (from ?? filter) : scanOf(filter, index, selectivity);
  const values: SqlValue[] = [];
  const bind = binder(values);
  const direction = descending ? 'desc' : 'asc';
  // Keys that have to be sorted are sorted before their records are read, and both engines read
  // them as they were written: an order of the outer query would read all records first.
  const sql =
    index !== inOrder
      ? `with found as materialized (${allRowsSql('id', asked, order, bind)}) select ${recordOfFound} as record from found`
      : asked.indexProducts !== undefined
        ? `select record from (${allRowsSql('id, record', asked, order, bind)} limit ${bind(Number.MAX_SAFE_INTEGER)}) as page`
        : `select record ${rowsFrom(asked, `${column}, id, record`, bind)} order by ${column} ${direction}, id ${direction}`;
  yield* snapshot.streamLines(sql as TenantSql, values, batchRows);
}

/** A counted filter without the dates before its first record, which may be far into the order. */
async function fromFirst(
  reader: TenantReader,
  counted: SubscriptionFilter,
  descending: boolean,
): Promise<SubscriptionFilter> {
  const range = await readRange(reader, counted);
  if (range.total === 0) return counted;
  const values: SqlValue[] = [];
  const bind = binder(values);
  const leaf = selectSql(counted, `cast(${bind(rankIn(range, { skip: 0, descending }))} as bigint)`, bind);
  const series = bind(seriesOfFilter(counted));
  const [row] = await reader.all(
    `with ${leaf} select from_date, (select from_date from subscription_span where tenant_id = $1 and series = ${series} and level = ${spanLevel.leaf}
      and (from_date, from_id) > (select from_date, coalesce(from_id, '') from leaf) order by from_date, from_id limit 1) as until_date from leaf`,
    values,
  );
  if (row === undefined) return counted;
  const [from, until] = [Number(row.from_date) - 1, Number(row.until_date ?? endOrderKey.date) + 1];
  const { afterSeconds = from, beforeSeconds = until } = counted;
  return descending
    ? { ...counted, beforeSeconds: Math.min(beforeSeconds, until) }
    : { ...counted, afterSeconds: Math.max(afterSeconds, from) };
}

export async function countMatching(reader: TenantReader, filter: SubscriptionFilter): Promise<number> {
  return (await countOfPlan(reader, filter)) ?? (await readRange(reader, await cheapestScan(reader, filter))).total;
}

/** The JSON text of one record, or `undefined` if the tenant has none with this id. */
export async function readRecord(reader: TenantReader, id: string): Promise<string | undefined> {
  const [row] = await reader.all('select record from subscription where tenant_id = $1 and id = $2', [id]);
  return row === undefined ? undefined : String(row.record);
}
