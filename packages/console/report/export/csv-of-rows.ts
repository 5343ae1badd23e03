import { guardText, writeCsvLine } from '../../../contract/csv.ts';

/** Rows as a CSV file, headings first; a spreadsheet runs no cell of them as a formula. */
export const csvOfRows = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => writeCsvLine(cells.map(guardText))).join('');
