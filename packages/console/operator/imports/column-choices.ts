import { revealText } from '../../../contract/csv.ts';
import { isKnown, knownValues } from '../../../contract/known-values.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import { foldName } from '../../../contract/suggest.ts';
import type { FirstRows } from './read-rows.ts';

/** The fields that a file may have, and whether one value may be that of all records. */
export const importFields = [
  ...recordFields.map((field) => ({ ...field, mayBeConstant: field.name !== 'id' && field.name !== 'iccid' })),
  { name: 'email', type: 'text', isOptional: true, mayBeConstant: false } as const,
];
export type ImportField = (typeof importFields)[number];

/** Where the value of a field comes from. */
export type ColumnChoice = ChosenColumn | { readonly constant: string };

interface ChosenColumn {
  readonly column: string;
  /** What values of the column mean. */
  readonly values?: Readonly<Record<string, string>>;
}

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
  const { columns = {}, constants = {}, values = {} }: Mapping = saved === null ? {} : JSON.parse(saved);
  const choices: Record<string, ColumnChoice> = {};
  for (const { name } of importFields) {
    const column = columns[name];
    if (column !== undefined && header.includes(column)) choices[name] = { column, values: values[name] ?? {} };
    else if (constants[name] !== undefined && columnNamed(name, header) === undefined)
      choices[name] = { constant: constants[name] };
  }
  const used = new Set(Object.values(choices).flatMap((choice) => ('column' in choice ? [choice.column] : [])));
  for (const { name } of importFields) {
    if (choices[name] !== undefined) continue;
    const column = columnNamed(name, header);
    if (column !== undefined && !used.has(column)) choices[name] = { column, values: values[name] ?? {} };
  }
  return choices;
}

/** The column with the name of a field, as an import compares names. */
const columnNamed = (name: string, header: readonly string[]): string | undefined =>
  header.find((each) => each === name) ?? header.find((each) => foldName(each) === foldName(name));

/** Most codes of a field that are listed: a column with more is that of another field. */
const codesMax = 50;

/** The values of a column that are none of the known ones of its field. */
export function codesIn([header = [], ...rows]: FirstRows, field: ImportField, choice: ColumnChoice | undefined) {
  if (knownValues[field.name] === undefined || choice === undefined || 'constant' in choice) return [];
  const at = header.indexOf(choice.column);
  const cells = new Set(rows.map((row) => revealText(row[at] ?? '')));
  return [...cells].filter((value) => value !== '' && !isKnown(field, value)).slice(0, codesMax);
}

/** Whether an import needs no mapping: each column has the name of its field. */
export function isPlain(header: readonly string[], choices: ColumnChoices): boolean {
  const columns = Object.entries(choices).map(([name, choice]) =>
    'column' in choice && foldName(choice.column) === foldName(name) && valuesOf(choice) === undefined
      ? choice.column
      : undefined,
  );
  return !columns.includes(undefined) && header.every((name) => name === '' || columns.includes(name));
}

/** What values of a column mean, if any do. */
const valuesOf = (choice: ColumnChoice): ChosenColumn['values'] =>
  'column' in choice && Object.keys(choice.values ?? {}).length > 0 ? choice.values : undefined;

/** The mapping of an import as JSON. */
export function mappingOf(choices: ColumnChoices): string {
  const all = Object.entries(choices);
  return JSON.stringify({
    columns: Object.fromEntries(all.flatMap(([name, choice]) => ('column' in choice ? [[name, choice.column]] : []))),
    constants: Object.fromEntries(all.flatMap(([name, each]) => ('constant' in each ? [[name, each.constant]] : []))),
    values: Object.fromEntries(all.flatMap(([name, choice]) => (valuesOf(choice) ? [[name, valuesOf(choice)]] : []))),
  });
}

/** The required fields without a choice. */
export const missingIn = (choices: ColumnChoices): readonly string[] =>
  importFields.flatMap(({ name, isOptional }) => (isOptional || choices[name] !== undefined ? [] : [name]));

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
