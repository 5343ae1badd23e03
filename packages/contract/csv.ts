import { recordFields } from './record-fields.ts';

/** The CSV columns of a record: its fields in order, `product.…` for the fields of its product. */
export const recordColumns: readonly string[] = recordFields.map(({ name }) => name);

/**
 * A string that a spreadsheet would treat as a formula, or an already guarded one: apostrophes,
 * then such a character.
 */
const formula = /^'*[=+\-@\t\r＝＋－＠]/;

/**
 * Prefixes a string with an apostrophe if a spreadsheet would treat it as a formula. `revealText`
 * is the exact inverse for every string.
 *
 * @example guardText('=1+1') // "'=1+1"
 */
export function guardText(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/**
 * Undoes `guardText`; other strings are returned unchanged.
 *
 * @example revealText("'=1+1") // '=1+1'
 */
export function revealText(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}

/**
 * One CSV line (RFC 4180 §2) with CRLF. Cells that contain a comma, a quote or a line break are
 * quoted, and so are those with a semicolon: a spreadsheet may split there as well, and the rest of
 * the cell may be a formula.
 */
export const writeCsvLine = (cells: readonly string[]): string => lineOf(cells.map(cellOf));

/**
 * The same with an empty string as two quotes, unlike an absent value. A line of one absent value
 * has two quotes too: readers skip an empty line.
 */
export const writeRecordLine = (cells: readonly (string | undefined)[]): string =>
  lineOf(cells.map((cell) => (cell === '' ? '""' : cellOf(cell ?? ''))));

const lineOf = (cells: readonly string[]): string => `${cells.join(',') || '""'}\r\n`;

const cellOf = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const special = /[",;\r\n]/;
