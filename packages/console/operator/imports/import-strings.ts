import { countOf } from '../../ui/format-count.ts';

/** The texts about a file of an import, its columns and its first rows. */
export const fileStrings = {
  formats: 'Plain, or compressed with gzip or zstd',
  unknownFormat: 'Cannot tell the format of the file: its name must contain .csv or .ndjson, such as rows.csv.gz',
  firstRecords: 'The first rows, as they would be stored',
  record: (number: number) => `Row ${number}`,
  encoding: 'Encoding',
  readAs: (encoding: string) => `Read as ${encoding}`,
  columns: {
    title: 'Columns',
    hint: 'Which column of the file is which field. Columns that are not chosen are ignored.',
    constant: 'One value for all rows',
    codes: (rows: number) =>
      `Values that need a meaning were looked for in the first ${countOf(rows, 'row', 'rows')}. Once one of a field has a meaning, rows with others are rejected.`,
    meaningOf: (field: string, code: string) => `${field} "${code}" means`,
    required: (field: string) => `${field} (required)`,
    valueOf: (field: string) => `Value of ${field}`,
    missing: (fields: string) => `Choose a column or a value: ${fields}`,
  },
} as const;
