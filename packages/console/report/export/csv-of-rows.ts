import { guardText, writeCsvLine } from '../../../contract/csv.ts';

/** Rows as a CSV file, the first of which are its headings; a spreadsheet runs none as a formula. */
export const csvOfRows = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => writeCsvLine(cells.map(guardText))).join('');
