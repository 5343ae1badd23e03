import { guardText, writeCsvLine } from '../../../contract/csv.ts';

/**
 * Items of the API as CSV. Each member is a column; those of an object of fixed shape are columns
 * of their own, such as `actor.name`, and the free members of `details` are one, as JSON.
 */
export function csvOf(items: readonly object[]): string {
  const rows = items.map((item) => new Map(cellsOf(item)));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return [columns, ...rows.map((row) => columns.map((column) => row.get(column) ?? ''))].map(writeCsvLine).join('');
}

const cellsOf = (item: object, prefix = ''): [string, string][] =>
  Object.entries(item).flatMap(([name, value]) => {
    const isFixed = typeof value === 'object' && value !== null && !Array.isArray(value) && name !== 'details';
    return isFixed ? cellsOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, textOf(value)]];
  });

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return guardText(value.join(' '));
  return guardText(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
