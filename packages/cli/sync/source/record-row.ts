import { type FieldType, recordFields, recordWith, valueAt } from '../../../contract/record-fields.ts';
import { SyncError } from './error.ts';

/** The columns of a copy, in order. Dates are those of the record, in UTC and whole seconds. */
export const columns = recordFields.map(({ column, type, isOptional }) => ({ name: column, type, isOptional }));

/** The type of a column. */
export type ColumnType = FieldType;

/** The value of a column; one that no record has, if somebody else has changed the copy. */
export type Cell = string | number | boolean | null;

/** A record as the cells of its columns; the first one is its id. */
export type Row = readonly Cell[];

/**
 * Converts a record's line of the NDJSON export to a row. Throws `SyncError` `SOURCE_UNKNOWN`
 * unless `lineOf` gives the same line: a copy must lose no field that a later version of the
 * service adds.
 */
export function rowOf(line: string): Row {
  const record: { readonly id: string } = JSON.parse(line);
  const row = recordFields.map((field) => cellOf(valueAt(record, field), field.type));
  if (lineOf(row) === line) return row;
  throw new SyncError(
    'SOURCE_UNKNOWN',
    `Cannot copy the record '${record.id}': it must have the fields and values that this version of subreport knows; install the version of the service: current value is ${line.slice(0, 1_000)}`,
  );
}

function cellOf(value: unknown, type: FieldType): Cell {
  if (value === undefined) return null;
  if (type === 'boolean') return value === 'true';
  return type === 'integer' ? Number(value) : String(value);
}

/**
 * The JSON of a row: its line in the NDJSON export, without the line feed. A cell that no record
 * has gives a line that no export has.
 */
export const lineOf = (row: Row): string => JSON.stringify(recordWith((_, index) => memberOf(row[index])));

const memberOf = (cell: Cell | undefined): unknown => (typeof cell === 'boolean' ? String(cell) : (cell ?? undefined));
