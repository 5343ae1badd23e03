import { type ListParameter, listedMax } from './listed-values.ts';
import { filterParameters } from './query.ts';
import { readIccid } from './read-iccid.ts';
import { fitsText, ruleOf } from './schema.ts';

/** Most lines whose faults are listed. */
const faultsMax = 10;

/** Digits that a spreadsheet has rounded: `8.94E+18`. */
export const rounded = /\b\d[.,]\d+E\+\d+\b/i;

/**
 * Reads a column as a spreadsheet saves it: with a byte order mark, CRLF, quotes, blank lines and a
 * header line, which is the name of the parameter or no valid value. It must be the first line that
 * is not blank. A line may have several ICCIDs. Returns the values, what was skipped, and what is
 * wrong.
 */
export function readColumn(name: ListParameter, content: string) {
  const values = new Set<string>();
  const invalid = new Map<number, string>();
  let repeated = 0;
  let header: string | undefined;
  const schema = filterParameters[name];
  for (const [at, line] of content.split(/\r\n|[\r\n]/).entries()) {
    const cells = name === 'iccid' && !rounded.test(line) ? iccidsIn(line) : [unquoted(line.trim())];
    for (const value of cells.filter((cell) => cell !== '')) {
      const isFirst = values.size === 0 && invalid.size === 0 && header === undefined && cells.length === 1;
      if (isFirst && isHeader(name, value)) header = value;
      else if (!fitsText(schema, value))
        invalid.set(at, `line ${at + 1} must be ${ruleOf(schema)}: current value is '${value.slice(0, 64)}'`);
      else if (values.has(value)) repeated += 1;
      else values.add(value);
    }
  }
  const faults = [...invalid.values()].slice(0, faultsMax);
  if (invalid.size > faultsMax) faults.push(`${invalid.size - faultsMax} more lines are invalid`);
  if (values.size > listedMax)
    faults.push(`it must have at most ${listedMax} values; split it: current value is ${values.size}`);
  if (values.size === 0 && faults.length === 0) faults.push('it must have a value on a line of its own');
  return { values: [...values], repeated, header, faults };
}

/** The ICCIDs of a line, and what else it has; whole ones may be separated by spaces alone. */
const iccidsIn = (line: string): readonly string[] =>
  line.split(/[,;|\t]/).flatMap((cell) => {
    const words = cell.trim().split(/\s+/).map(readIccid);
    const values = words.some(isIccid) && !isIccid(readIccid(cell)) ? words : [unquoted(readIccid(cell).trim())];
    return values.filter((value) => /[\p{L}\p{N}…]|\.{3}/u.test(value));
  });

const isIccid = (text: string): boolean => fitsText(filterParameters.iccid, text);

/** A cell as a spreadsheet or a CSV export writes it: in quotes, or as text after an apostrophe. */
const unquoted = (cell: string): string =>
  (/^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell).replace(/^'(?=[\w=+@-])/, '').trim();

/** Whether a cell names a column: as the parameter, or with a letter where only digits are. */
const isHeader = (name: ListParameter, cell: string): boolean =>
  /^(id|subscription[ _-]?id|device[ _-]?id|device)$/i.test(cell) ||
  (name === 'iccid' && /^\p{L}/u.test(cell) && !/(\d\D?){6}/.test(cell));
