/** The texts about a file of an import, its columns and its first rows. */
export const fileStrings = {
  formats: 'Plain, or compressed with gzip or zstd',
  unknownFormat: 'Cannot tell the format of the file: its name must contain .csv or .ndjson, such as rows.csv.gz',
  firstRecords: 'The first rows, as they would be stored',
  record: (number: number) => `Row ${number}`,
  emptyText: 'empty',
  columns: {
    title: 'Columns',
    plain: 'Columns: each has the name of its field',
    hint: 'Which column of the file is which field. Columns that are not chosen are ignored.',
    absent: 'No column',
    constant: 'One value for all rows',
    required: (field: string) => `${field} (required)`,
    valueOf: (field: string) => `Value of ${field}`,
    save: 'Save for the next import',
    missing: (fields: string) => `Choose a column or a value: ${fields}`,
  },
} as const;
