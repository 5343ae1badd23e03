import { recordColumns } from '../../contract/csv.ts';
import { shorten } from '../../contract/problem.ts';
import { type RecordField, recordFields } from '../../contract/record-fields.ts';
import { didYouMean, foldName } from '../../contract/suggest.ts';
import { ImportError } from './error.ts';

/**
 * The columns of a CSV source: the fields of a record, `product.…` for those of its product, and
 * the subscriber's email.
 */
export const csvColumns: readonly string[] = [...recordColumns, 'email'];

const fields: ReadonlyMap<string, RecordField> = new Map(recordFields.map((field) => [field.name, field]));

/** Which columns of a CSV source are which fields, by the names of the fields. */
export interface ColumnMapping {
  /** The name of a field's column in the file. */
  readonly columns: Readonly<Record<string, string>>;
  /** The value of a field that the file lacks, in all records. */
  readonly constants: Readonly<Record<string, string>>;
  /** What values of the file mean, by the fields of their columns. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A column of a source that is loaded. */
export interface Column {
  readonly name: string;
  /** `undefined` for the email, which is no field of a record. */
  readonly field: RecordField | undefined;
  /** Position of its cells, from 0. */
  readonly at: number;
  /** What its cells mean, if they need not be values of the field. */
  readonly values: ReadonlyMap<string, string> | undefined;
}

/** What the columns of a CSV source mean. */
export interface Layout {
  readonly header: readonly string[];
  readonly columns: readonly Column[];
  readonly constants: readonly (readonly [name: string, field: RecordField | undefined, value: string])[];
  /** Positions of columns without a name, whose cells must be empty. */
  readonly unnamed: readonly number[];
  /** Number of columns up to the last one with a name. */
  readonly width: number;
}

/**
 * Reads the header of a CSV source. A mapping names the columns of fields, and the file may have
 * others; without one, every column must be a field. Other fields have the columns with their
 * names, as `foldName` compares them. Throws `ImportError` with the faults.
 */
export function readLayout(cells: readonly string[], mapping: ColumnMapping = noMapping): Layout {
  const header = cells.map((cell) => cell.trim());
  const mapped = Object.values(mapping.columns);
  const { values = {} } = mapping;
  const folded = header.map((name) => (mapped.includes(name) ? '' : foldName(name)));
  /** The positions of the columns that mean a field. */
  const placesOf = (name: string): number[] => {
    const column = mapping.columns[name];
    const [names, wanted] = column === undefined ? [folded, foldName(name)] : [header, column];
    return names.flatMap((each, at) => (each === wanted ? [at] : []));
  };
  const isConstant = (name: string): boolean => Object.hasOwn(mapping.constants, name);
  const known = csvColumns.map((name) => [name, placesOf(name)] as const).filter(([, places]) => places.length > 0);
  const names = known.map(([name]) => name);
  const used = new Set(known.flatMap(([, places]) => places));
  const faults = [
    ...mapped.filter((column) => !header.includes(column)).map((column) => `there is no column '${shorten(column)}'`),
    ...header
      .filter((name, at) => mapping === noMapping && name !== '' && !used.has(at))
      .map((name) => `'${shorten(name)}' is not a column${didYouMean(name, csvColumns)}`),
    ...known.filter(([, places]) => places.length > 1).map(([, places]) => repeatedIn(places.map((at) => header[at]))),
    ...names.filter(isConstant).map((name) => `'${name}' is a constant and a column`),
    ...Object.keys(values).flatMap((name) => (names.includes(name) ? [] : [`'${name}' has values and no column`])),
    ...missingOf(csvColumns.filter((name) => !names.includes(name) && !isConstant(name))),
  ];
  if (faults.length > 0) throw headerError(names.length === 0, faults);
  return {
    header,
    columns: known.map(([name, [at = 0]]) => ({
      ...{ name, field: fields.get(name), at },
      values: values[name] && new Map(Object.entries(values[name])),
    })),
    constants: Object.entries(mapping.constants).map(([name, value]) => [name, fields.get(name), value]),
    unnamed: header.flatMap((name, at) => (name === '' ? [at] : [])),
    width: header.findLastIndex((name) => name !== '') + 1,
  };
}

/** Columns that mean one field. */
function repeatedIn(columns: readonly (string | undefined)[]): string {
  const [first = '', ...others] = new Set(columns);
  return `'${[first, ...others].join("' and '")}' ${others.length === 0 ? 'stands twice' : 'are one field'}`;
}

const noMapping: ColumnMapping = { columns: {}, constants: {} };

function missingOf(names: readonly string[]): string[] {
  const missing = names.filter((name) => fields.get(name)?.isOptional === false).map((name) => `'${name}'`);
  return missing.length === 0 ? [] : [`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`];
}

/** Longest sentence about a file. */
const sentenceMax = 200;

function headerError(isData: boolean, faults: readonly string[]): ImportError {
  const start = 'Cannot import the CSV file: its first line must name its columns';
  const text = isData
    ? `${start}, such as id,iccid,createdDate: it has none of them; add a header, or map its columns`
    : `${start}: ${listed(faults, sentenceMax - start.length - 2)}`;
  return new ImportError('UNREADABLE', text);
}

/** As many faults as fit, and the number of the others. */
function listed(faults: readonly string[], charactersMax: number): string {
  let text = '';
  for (const [index, fault] of faults.entries()) {
    const longer = index === 0 ? fault : `${text}; ${fault}`;
    const left = faults.length - index - 1;
    const end = left === 0 ? '' : `; and ${left} more`;
    if (longer.length + end.length > charactersMax) {
      return index === 0 ? shorten(fault, charactersMax - 1) : `${text}; and ${faults.length - index} more`;
    }
    text = longer;
  }
  return text;
}
