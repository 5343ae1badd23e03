import type { Subscription } from '../client/index.ts';
import { SyncError } from './error.ts';

/** The columns of a copy, in order. Dates are those of the record, in UTC and whole seconds. */
export const columns = [
  { name: 'id', type: 'text' },
  { name: 'status', type: 'text', isOptional: true },
  { name: 'activation_date', type: 'instant' },
  { name: 'expiration_date', type: 'instant' },
  { name: 'created_date', type: 'instant' },
  { name: 'product_id', type: 'text' },
  { name: 'product_name', type: 'text', isOptional: true },
  { name: 'product_period', type: 'integer', isOptional: true },
  { name: 'product_period_unit', type: 'text', isOptional: true },
  { name: 'product_plan_id', type: 'text', isOptional: true },
  { name: 'iccid', type: 'text' },
  { name: 'device_id', type: 'text' },
  { name: 'auto_renew', type: 'boolean' },
] as const;

/** The type of a column. */
export type ColumnType = (typeof columns)[number]['type'];

/** A record as the cells of its columns. */
export type Row = readonly [
  id: string,
  status: string | null,
  activationDate: string,
  expirationDate: string,
  createdDate: string,
  productId: string,
  productName: string | null,
  productPeriod: number | null,
  productPeriodUnit: string | null,
  productPlanId: string | null,
  iccid: string,
  deviceId: string,
  autoRenew: boolean,
];

const text = String.raw`([^"\\\u0000-\u001f]*)`;
const members = (names: string): string =>
  names
    .split(' ')
    .map((name) => `"${name}":"${text}"`)
    .join(',');
const optional = (name: string): string => `(?:,${members(name)})?`;
/** A line without escapes, as `lineOf` writes it: its groups are the cells. */
const plainLine = new RegExp(
  `^\\{${members('id')}${optional('status')},${members('activationDate expirationDate createdDate')},"product":\\{${members('id')}${optional('name')}(?:,"period":(0|-?[1-9]\\d{0,14}))?${optional('period_unit')}${optional('plan_id')}\\},${members('iccid device_id')},"auto_renew":"(true|false)"\\}$`,
);

/**
 * Converts a record's line of the NDJSON export to a row. Throws `SyncError` `SOURCE_UNKNOWN`
 * unless `lineOf` gives the same line: a copy must lose no field that a later version of the
 * service adds. A line without escapes is not parsed, which takes a quarter of the time.
 */
export function rowOf(line: string): Row {
  const cells = plainLine.exec(line);
  if (cells === null) return parsedRow(line);
  const [, id = '', status = null, activated = '', expires = '', created = ''] = cells;
  const [product = '', name = null, period, unit = null, plan = null, iccid = '', device = '', renews] = cells.slice(6);
  const dates = [activated, expires, created] as const;
  const length = period === undefined ? null : Number(period);
  return [id, status, ...dates, product, name, length, unit, plan, iccid, device, renews === 'true'];
}

/** Throws `SyncError` `SOURCE_UNKNOWN` unless `rowOf` can convert the line. */
export function requireKnown(line: string): void {
  if (!plainLine.test(line)) parsedRow(line);
}

function parsedRow(line: string): Row {
  const record: Subscription = JSON.parse(line);
  const { product } = record;
  const row: Row = [
    record.id,
    record.status ?? null,
    record.activationDate,
    record.expirationDate,
    record.createdDate,
    product.id,
    product.name ?? null,
    product.period ?? null,
    product.period_unit ?? null,
    product.plan_id ?? null,
    record.iccid,
    record.device_id,
    record.auto_renew === 'true',
  ];
  if (lineOf(row) === line) return row;
  throw new SyncError(
    'SOURCE_UNKNOWN',
    `Cannot copy the record '${record.id}': it must have the fields and values that this version of subreport knows; install the version of the service: current value is ${line.slice(0, 1_000)}`,
  );
}

/** The JSON of a row: its line in the NDJSON export, without the line feed. */
export function lineOf(row: Row): string {
  return JSON.stringify({
    id: row[0],
    status: row[1] ?? undefined,
    activationDate: row[2],
    expirationDate: row[3],
    createdDate: row[4],
    product: {
      id: row[5],
      name: row[6] ?? undefined,
      period: row[7] ?? undefined,
      period_unit: row[8] ?? undefined,
      plan_id: row[9] ?? undefined,
    },
    iccid: row[10],
    device_id: row[11],
    auto_renew: row[12] ? 'true' : 'false',
  });
}
