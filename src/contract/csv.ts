import { Product } from './product.ts';
import { Subscription } from './subscription.ts';

/**
 * The columns of a record in CSV: its fields in their order, `product.…` for those of its product.
 */
export const recordColumns: readonly string[] = Object.keys(Subscription.properties).flatMap((name) =>
  name === 'product' ? Object.keys(Product.properties).map((part) => `product.${part}`) : [name],
);

/**
 * A text that a spreadsheet would take for a formula, or that looks as if it had been kept from it:
 * apostrophes, then such a character.
 */
const formula = /^'*[=+\-@\t\r＝＋－＠]/;

/**
 * Keeps a text from being taken for a formula: an apostrophe goes before it. `revealText` takes it
 * away again, so that every text comes back as it was.
 *
 * @example guardText('=1+1') // "'=1+1"
 */
export function guardText(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/**
 * Undoes `guardText`, and leaves every text alone that it did not write.
 *
 * @example revealText("'=1+1") // '=1+1'
 */
export function revealText(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}

/**
 * One line of CSV (RFC 4180 §2) with its end: a cell stands in quotes when it holds a comma, a
 * quote or a line end.
 */
export function writeCsvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

const special = /[",\r\n]/;
