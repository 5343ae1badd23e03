import { recordColumns, revealText } from '../contract/csv.ts';
import { shorten } from '../contract/shorten.ts';
import { didYouMean } from '../contract/suggest.ts';
import { ImportError } from './error.ts';

/**
 * The columns of a CSV source: the fields of a record, `product.…` for those of its product, and
 * the subscriber's e-mail.
 */
export const csvColumns: readonly string[] = [...recordColumns, 'email'];

const optionalColumns: ReadonlySet<string> = new Set(['status', 'email']);

/** Most unknown or repeated names that an error lists: a line of 16 KiB may have 8,000. */
const unknownMax = 16;

/** Returns the trimmed header row of a CSV source; throws an error that lists every fault. */
export function checkCsvHeader(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  const faults = [
    ...names
      .filter((name) => !csvColumns.includes(name))
      .slice(0, unknownMax)
      .map((name) => `'${shorten(name)}' is not a column${didYouMean(name, csvColumns)}`),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .slice(0, unknownMax)
      .map((name) => `'${shorten(name)}' stands twice`),
    ...csvColumns
      .filter((name) => !optionalColumns.has(name) && !names.includes(name))
      .map((name) => `'${name}' is missing`),
  ];
  if (faults.length > 0) {
    throw new ImportError(
      'UNREADABLE',
      `Cannot import the CSV file: its first line must name the columns ${csvColumns.join(',')}: ${faults.join('; ')}`,
    );
  }
  return names;
}

/**
 * Converts a row of a CSV source to the value that the same row has in NDJSON. An empty cell is an
 * absent field, or an empty string where that is allowed. Removes the apostrophe that our CSV
 * reports put before a string that a spreadsheet would run as a formula.
 */
export function csvRowValue(cells: Readonly<Record<string, string>>): unknown {
  const value: Record<string, unknown> = {};
  const product: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(cells)) {
    if (cell === '' && !emptyColumns.has(column)) continue;
    if (column.startsWith('product.')) product[column.slice('product.'.length)] = revealText(cell);
    else value[column] = revealText(cell);
  }
  if (typeof product.period === 'string' && /^\d{1,9}$/.test(product.period)) product.period = Number(product.period);
  return { ...value, product };
}

/** Columns of required strings that may be empty. */
const emptyColumns: ReadonlySet<string> = new Set(['device_id', 'product.name', 'product.plan_id']);
