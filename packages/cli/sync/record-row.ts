import { type FieldType, recordFields, recordWith, valueAt } from '../../contract/record-fields.ts';
import { SyncError } from './error.ts';

/** The columns of a copy, in order. Dates are those of the record, in UTC and whole seconds. */
export const columns = recordFields.map(({ column, type, isOptional }) => ({ name: column, type, isOptional }));

/** The type of a column. */
export type ColumnType = FieldType;

/** A record as the cells of its columns; the first one is its id. */
export type Row = readonly [id: string, ...others: (string | number | boolean | null)[]];

/** Matches the JSON of a value; its capturing group is the cell. */
const patterns: Readonly<Record<FieldType, string>> = {
  text: String.raw`"([^"\\\u0000-\u001f]*)"`,
  instant: String.raw`"([^"\\\u0000-\u001f]*)"`,
  integer: String.raw`(0|-?[1-9]\d{0,14})`,
  boolean: '"(true|false)"',
};

/** Matches a line without escapes, as `lineOf` writes it: its groups are the cells. */
const plainLine = new RegExp(
  `^\\{${recordFields
    .map(({ path, type, isOptional }, index) => {
      const [name = '', part] = path;
      const [before, after] = [recordFields[index - 1], recordFields[index + 1]];
      const isFirstPart = part !== undefined && before?.path[0] !== name;
      const isLastPart = part !== undefined && after?.path[0] !== name;
      const comma = index === 0 ? '' : ',';
      const member = isFirstPart
        ? `${comma}"${name}":\\{"${part}":${patterns[type]}`
        : `${comma}"${part ?? name}":${patterns[type]}`;
      return `${isOptional ? `(?:${member})?` : member}${isLastPart ? '\\}' : ''}`;
    })
    .join('')}\\}$`,
);

/**
 * Converts a record's line of the NDJSON export to a row. Throws `SyncError` `SOURCE_UNKNOWN`
 * unless `lineOf` gives the same line: a copy must lose no field that a later version of the
 * service adds. A line without escapes is not parsed, which takes a quarter of the time.
 */
export function rowOf(line: string): Row {
  const cells = plainLine.exec(line);
  return cells === null ? parsedRow(line) : rowWith((index) => cells[index + 1]);
}

/** Throws `SyncError` `SOURCE_UNKNOWN` unless `rowOf` can convert the line. */
export function requireKnown(line: string): void {
  if (!plainLine.test(line)) parsedRow(line);
}

function parsedRow(line: string): Row {
  const record: { readonly id: string } = JSON.parse(line);
  const row = rowWith((index) => recordFields[index] && valueAt(record, recordFields[index]));
  if (lineOf(row) === line) return row;
  throw new SyncError(
    'SOURCE_UNKNOWN',
    `Cannot copy the record '${record.id}': it must have the fields and values that this version of subreport knows; install the version of the service: current value is ${line.slice(0, 1_000)}`,
  );
}

/** The row of these values, which are those of JSON or their texts; `undefined` if absent. */
function rowWith(cellAt: (index: number) => unknown): Row {
  const cells: unknown[] = [];
  for (const [index, { type }] of columns.entries()) {
    const value = cellAt(index);
    cells.push(
      value === undefined ? null : type === 'boolean' ? value === 'true' : type === 'integer' ? Number(value) : value,
    );
  }
  return cells as unknown as Row;
}

/**
 * The JSON of a row: its line in the NDJSON export, without the line feed. A cell that no record
 * has gives a line that no export has.
 */
export const lineOf = (row: Row): string => JSON.stringify(recordWith((_, index) => cellValue(row, index)));

/** The values of a row as its record has them, in the order of `recordFields`. */
export const valuesOf = (row: Row): readonly unknown[] => columns.map((_, index) => cellValue(row, index));

function cellValue(row: Row, index: number): unknown {
  const cell = row[index];
  return typeof cell === 'boolean' ? String(cell) : (cell ?? undefined);
}
