import { recordFields } from '../../../contract/record-fields.ts';

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
    else if (constants[name] !== undefined && !header.includes(name)) choices[name] = { constant: constants[name] };
  }
  const used = new Set(Object.values(choices).flatMap((choice) => ('column' in choice ? [choice.column] : [])));
  for (const { name } of importFields) {
    if (choices[name] !== undefined) continue;
    const column = header.find((each) => each === name) ?? header.find((each) => plainOf(each) === plainOf(name));
    if (column !== undefined && column !== '' && !used.has(column)) choices[name] = { column };
  }
  return choices;
}

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether an import needs no mapping: each column has the name of its field. */
export function isPlain(header: readonly string[], choices: ColumnChoices): boolean {
  const named = Object.entries(choices).filter(([name, choice]) => 'column' in choice && choice.column === name);
  const columns = header.filter((name) => name !== '');
  return named.length === Object.keys(choices).length && columns.every((name) => choices[name] !== undefined);
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
  const isOther = ([field, choice]: [string, ColumnChoice]) =>
    field !== name && 'column' in choice && choice.column === name;
  return header.includes(name) && !Object.entries(choices).some(isOther);
}
