import { recordFields, valueAt } from '../../packages/contract/record-fields.ts';
import type { Subscription } from '../../packages/contract/subscription.ts';

/** A record as a row of the Parquet file. */
export const parquetRowOf = (record: Subscription): Record<string, unknown> =>
  Object.fromEntries(
    recordFields.map((field) => {
      const value = valueAt(record, field) ?? null;
      const cell =
        field.type === 'instant' ? new Date(String(value)) : field.type === 'boolean' ? value === 'true' : value;
      return [field.column, cell];
    }),
  );
