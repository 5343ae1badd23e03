import type { Row, SqlValue } from '../store.ts';

/** The columns that repeat a field of the record, and how each value is read from its JSON. */
const fields: Readonly<Record<string, (record: WireRecord) => unknown>> = {
  id: ({ id }) => id,
  created_date: ({ createdDate }) => secondsOf(createdDate),
  activation_date: ({ activationDate }) => secondsOf(activationDate),
  expiration_date: ({ expirationDate }) => secondsOf(expirationDate),
  status: ({ status = null }) => status,
  product_id: ({ product }) => product?.id,
  plan_id: ({ product }) => product?.plan_id,
  iccid: ({ iccid }) => iccid,
  device_id: ({ device_id }) => device_id,
  auto_renew: ({ auto_renew }) => auto_renew,
};

type WireRecord = Readonly<Record<string, unknown>> & { readonly product?: Readonly<Record<string, unknown>> };

/** The names of these columns, in a fixed order. */
export const recordColumns = Object.keys(fields);

/** The column values that a record's JSON requires; `undefined` if it is not a complete record. */
export function columnsOfRecord(text: string): readonly SqlValue[] | undefined {
  try {
    const record = JSON.parse(text) as WireRecord;
    const values = Object.values(fields).map((read) => read(record));
    return values.every(isStorable) ? values : undefined;
  } catch {
    return undefined; // not JSON, or not an object
  }
}

/**
 * The names of the columns that differ from the record's JSON; `undefined` if it is not a complete
 * record.
 */
export function differingColumns(row: Row): readonly string[] | undefined {
  const expected = columnsOfRecord(String(row.record));
  return expected && recordColumns.filter((name, index) => row[name] !== expected[index]);
}

const isStorable = (value: unknown): value is SqlValue =>
  value === null || typeof value === 'string' || typeof value === 'number';

function secondsOf(date: unknown): number | undefined {
  const seconds = typeof date === 'string' && date.endsWith('Z') ? Date.parse(date) / 1000 : Number.NaN;
  return Number.isInteger(seconds) ? seconds : undefined;
}
