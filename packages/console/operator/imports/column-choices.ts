import { recordFields } from '../../../contract/record-fields.ts';
import { foldName } from '../../../contract/suggest.ts';

/** A field of a record in an import. */
export interface ImportField {
  readonly name: string;
  readonly isRequired: boolean;
  /** Whether one value may be that of all records. */
  readonly mayBeConstant: boolean;
}

const ownFields: readonly string[] = ['id', 'iccid'];

/** The fields that a file may have, in the order of a record. */
export const importFields: readonly ImportField[] = [
  ...recordFields.map(({ name, isOptional }) => ({
    name,
    isRequired: !isOptional,
    mayBeConstant: !ownFields.includes(name),
  })),
  { name: 'email', isRequired: false, mayBeConstant: false },
];

/** Where the value of a field comes from. */
export type ColumnChoice = { readonly column: string } | { readonly constant: string };

/** By the name of a field; a field without a choice is absent. */
export type ColumnChoices = Readonly<Record<string, ColumnChoice>>;

/** A mapping of columns, as its JSON has it. */
export interface Mapping {
  readonly columns?: Readonly<Record<string, string>>;
  readonly constants?: Readonly<Record<string, string>>;
  /** By a field and a value of its column, what the value means. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What is likely: the saved mapping as far as the file has its columns, then equal names. */
export function suggestChoices(header: readonly string[], saved: string | null): ColumnChoices {
  const { columns = {}, constants = {} }: Mapping = saved === null ? {} : JSON.parse(saved);
  const choices: Record<string, ColumnChoice> = {};
  for (const { name } of importFields) {
    const column = columns[name];
    if (column !== undefined && header.includes(column)) choices[name] = { column };
    else if (constants[name] !== undefined && columnNamed(name, header) === undefined)
      choices[name] = { constant: constants[name] };
  }
  const used = new Set(Object.values(choices).flatMap((choice) => ('column' in choice ? [choice.column] : [])));
  for (const { name } of importFields) {
    if (choices[name] !== undefined) continue;
    const column = columnNamed(name, header);
    if (column !== undefined && !used.has(column)) choices[name] = { column };
  }
  return choices;
}

/** The column with the name of a field, as an import compares names. */
const columnNamed = (name: string, header: readonly string[]): string | undefined =>
  header.find((each) => each === name) ?? header.find((each) => foldName(each) === foldName(name));

/** Whether an import needs no mapping: each column has the name of its field. */
export function isPlain(header: readonly string[], choices: ColumnChoices): boolean {
  const columns = Object.entries(choices).map(([name, choice]) =>
    'column' in choice && foldName(choice.column) === foldName(name) ? choice.column : undefined,
  );
  return !columns.includes(undefined) && header.every((name) => name === '' || columns.includes(name));
}

/** The mapping of an import as JSON. */
export function mappingOf(choices: ColumnChoices): string {
  const columns: Record<string, string> = {};
  const constants: Record<string, string> = {};
  for (const [name, choice] of Object.entries(choices)) {
    if ('column' in choice) columns[name] = choice.column;
    else constants[name] = choice.constant;
  }
  return JSON.stringify({ columns, constants });
}

/** The required fields without a choice. */
export const missingIn = (choices: ColumnChoices): readonly string[] =>
  importFields.flatMap(({ name, isRequired }) => (isRequired && choices[name] === undefined ? [name] : []));

/**
 * Whether a field is loaded without a choice: a column with its name is that field, unless it is
 * chosen for another one.
 */
export function isLoadedAnyway(name: string, header: readonly string[], choices: ColumnChoices): boolean {
  const column = columnNamed(name, header);
  const isOther = ([field, choice]: [string, ColumnChoice]) =>
    field !== name && 'column' in choice && choice.column === column;
  return column !== undefined && !Object.entries(choices).some(isOther);
}
