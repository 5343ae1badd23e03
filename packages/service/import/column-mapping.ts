/** Which columns of a CSV source are which fields, by the names of the fields. */
export interface ColumnMapping {
  /** The name of a field's column in the file. */
  readonly columns: Readonly<Record<string, string>>;
  /** The value of a field that the file lacks, in all records. */
  readonly constants: Readonly<Record<string, string>>;
}
