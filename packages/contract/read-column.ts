import { type ListParameter, listedMax } from './listed-values.ts';
import { filterParameters } from './query.ts';
import { fitsText, ruleOf } from './schema.ts';

/** A column of values, what was skipped, and what is wrong with it. */
interface Column {
  readonly values: readonly string[];
  readonly blanks: number;
  readonly repeated: number;
  readonly header: string | undefined;
  readonly faults: readonly string[];
}

/** Most lines whose faults are listed. */
const faultsMax = 10;

/**
 * Reads a column as a spreadsheet saves it: with a byte order mark, CRLF, quotes, blank lines and a
 * header line, which is the name of the parameter or no valid value. It must be the first line that
 * is not blank.
 */
export function readColumn(name: ListParameter, content: string): Column {
  const values = new Set<string>();
  const invalid: string[] = [];
  let [blanks, repeated] = [0, 0];
  let header: string | undefined;
  const schema = filterParameters[name];
  const lines = content
    .replace(/^\ufeff/, '')
    .replace(/\r?\n?$/, '')
    .split(/\r\n|\n|\r/);
  for (const [at, line] of lines.entries()) {
    const value = unquoted(line.trim());
    const isFirst = values.size === 0 && invalid.length === 0 && header === undefined;
    if (value === '') blanks += 1;
    else if (isFirst && isHeader(name, value)) header = value;
    else if (!fitsText(schema, value))
      invalid.push(`line ${at + 1} must be ${ruleOf(schema)}: current value is '${value.slice(0, 64)}'`);
    else if (values.has(value)) repeated += 1;
    else values.add(value);
  }
  const more = invalid.length - faultsMax;
  const faults = [...invalid.slice(0, faultsMax), ...(more > 0 ? [`${more} more lines are invalid`] : [])];
  if (values.size > listedMax)
    faults.push(`it must have at most ${listedMax} values; split it: current value is ${values.size}`);
  if (values.size === 0 && faults.length === 0) faults.push('it must have a value on a line of its own');
  return { values: [...values], blanks, repeated, header, faults };
}

/** A cell as a spreadsheet or a CSV export writes it: in quotes, or as text after an apostrophe. */
const unquoted = (cell: string): string =>
  (/^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell).replace(/^'(?=[\w=+@-])/, '').trim();

/** Whether a cell names a column: as the parameter, or with a letter where only digits are. */
const isHeader = (name: ListParameter, cell: string): boolean =>
  /^(id|subscription[ _-]?id|device[ _-]?id|device)$/i.test(cell) || (name === 'iccid' && /^\p{L}/u.test(cell));
