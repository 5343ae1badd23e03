import { type RecordField, recordFields, recordWith } from './record-fields.ts';

// The only file that knows the text of a record in the store: the JSON that an import writes, with
// the members of `recordFields` in their order and nothing between them. Records that were written
// by other means may differ, so each user must be able to parse them.

/** A value of a stored record. */
interface StoredField extends RecordField {
  /** The JSON between the value before it and this one, without quotes of strings. */
  readonly before: string;
}

const between = JSON.stringify(recordWith(() => null)).split('null');

/** All values of a record in the order of their text. */
export const storedFields: readonly StoredField[] = recordFields.map((field, index) => ({
  ...field,
  before: between[index] ?? '',
}));

/** The JSON after the last value. */
export const storedEnd = between.at(-1) ?? '';
