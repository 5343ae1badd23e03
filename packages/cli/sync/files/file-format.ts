import { type FieldType, recordFields } from '../../../contract/record-fields.ts';

/** The formats of a file; those that end in `.gz` are compressed. */
export const snapshotFormats = ['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'parquet'] as const;
export type SnapshotFormat = (typeof snapshotFormats)[number];

/** A column of a file, or a member of its lines; `type` is the name that DuckDB has for it. */
export interface FileColumn {
  readonly name: string;
  readonly type: string;
}

/** The types of DuckDB for those of fields. */
export const duckTypes: Readonly<Record<FieldType, string>> = {
  text: 'VARCHAR',
  instant: 'TIMESTAMP WITH TIME ZONE',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
};

/** The columns of CSV and Parquet: those of a table. */
const flatColumns: readonly FileColumn[] = recordFields.map(({ column, type }) => ({
  name: column,
  type: duckTypes[type],
}));

/** The members of a line of NDJSON, which is a record: its booleans are strings. */
const members: readonly FileColumn[] = recordFields.flatMap(({ path: [name = '', part], type }, index) => {
  if (part === undefined) return [{ name, type: memberType(type) }];
  return recordFields[index - 1]?.path[0] === name ? [] : [{ name, type: structOf(name) }];
});

function structOf(parent: string): string {
  const parts = recordFields.filter(({ path }) => path.length > 1 && path[0] === parent);
  return `STRUCT(${parts.map(({ path: [, part], type }) => `${part} ${memberType(type)}`).join(', ')})`;
}

function memberType(type: FieldType): string {
  return duckTypes[type === 'boolean' ? 'text' : type];
}

/** The columns that a file of a format has. */
export const columnsOf = (format: SnapshotFormat): readonly FileColumn[] =>
  format.startsWith('ndjson') ? members : flatColumns;

/** The names of the fields in a file of a format, in the order of `recordFields`. */
export const fieldNamesOf = (format: SnapshotFormat): readonly string[] =>
  recordFields.map(({ name, column }) => (format.startsWith('ndjson') ? name : column));

/** Columns in a sentence. */
export const describeColumns = (columns: readonly FileColumn[]): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');
