import type { OrderKey } from '../order-key.ts';
import type { Row } from '../store.ts';
import { dateColumns, type SubscriptionRow } from '../subscription-row.ts';
import { keyOf, planKey, productOfSeries, renewing, seriesOfDate, seriesOfProduct, wholeSeries } from './span.ts';

// The columns of a row that the counts depend on, and which trees and keys count it.

type CountedValues = Pick<CountedRow, 'status' | 'autoRenew' | 'planId'>;

/** The keys that count a row in a series, besides `n`. */
export function countKeys(series: string, { status, autoRenew, planId }: CountedValues): readonly string[] {
  const key = keyOf(status);
  return [
    ...(autoRenew === 'true' ? [key, `${key}${renewing}`, renewing] : [key]),
    ...(productOfSeries(series) === undefined || planId === null ? [] : [`${planKey}${planId}`]),
  ];
}

/** The fields of a row that decide which spans count it. */
export type CountedRow = Pick<
  SubscriptionRow,
  'id' | 'createdDate' | 'activationDate' | 'expirationDate' | 'productId' | 'planId' | 'status' | 'autoRenew'
>;

/** The columns besides the id that `toCountedRow` reads. */
export const countedNames = [...dateColumns, 'product_id', 'plan_id', 'status', 'auto_renew'] as const;

/** All columns that `toCountedRow` reads, separated by commas. */
export const countedColumns = `id, ${countedNames.join(', ')}` as const;

/** These columns besides the id, of a table. */
export const countedOf = (table: string): string => countedNames.map((name) => `${table}.${name}`).join(', ');

/** The definitions of these columns in a temporary table. */
export const defineCounted = (bigint: string): string =>
  countedNames.map((name) => `${name} ${name.endsWith('_date') ? bigint : 'text'}`).join(', ');

/** SQL of a replaced row's new columns, of a table, as `toRowChange` reads them. */
export const newCountedOf = (table: string): string =>
  countedNames.map((name) => `${table}.${name} as new_${name}`).join(', ');

export function toCountedRow(row: Row): CountedRow {
  return {
    id: String(row.id),
    createdDate: Number(row.created_date),
    activationDate: Number(row.activation_date),
    expirationDate: Number(row.expiration_date),
    productId: String(row.product_id),
    planId: row.plan_id === null ? null : String(row.plan_id),
    status: row.status === null ? null : String(row.status),
    autoRenew: String(row.auto_renew),
  };
}

/** All series that count a row, with its key in each. */
export const placesOfRow = (row: CountedRow): readonly SeriesKey[] => [
  { series: wholeSeries, orderKey: { date: row.createdDate, id: row.id } },
  { series: seriesOfProduct(row.productId), orderKey: { date: row.createdDate, id: row.id } },
  { series: seriesOfDate.activation_date, orderKey: { date: row.activationDate, id: row.id } },
  { series: seriesOfDate.expiration_date, orderKey: { date: row.expirationDate, id: row.id } },
];

/** An order key in the tree of a series. */
export interface SeriesKey {
  readonly series: string;
  readonly orderKey: OrderKey;
}
