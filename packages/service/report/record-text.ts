import { type RecordField, recordFields, recordWith } from '../../contract/record-fields.ts';

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

/** The JSON around the value of a field in a record. */
interface TextAround {
  readonly before: string;
  /** What can follow it: of these, the first one that the record has. */
  readonly after: readonly string[];
}

/** The JSON around the value of a field. No string has any of it: quotes in it are escaped. */
export function textAround(name: string): TextAround {
  const index = storedFields.findIndex((field) => field.name === name);
  const later = storedFields.slice(index + 1);
  const lastNeeded = later.findIndex(({ isOptional }) => !isOptional);
  const after = (lastNeeded < 0 ? later : later.slice(0, lastNeeded + 1)).map(({ before }) => before);
  return { before: between[index] ?? '', after: lastNeeded < 0 ? [...after, storedEnd] : after };
}
