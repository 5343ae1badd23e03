import { csvOfRows } from '../export/csv-of-rows.ts';
import { rawDifferences } from '../history/describe-differences.ts';
import { type ListedChange, versionsOf } from './listed-changes.ts';

const header = ['id', 'iccid', 'kind', 'time', 'field', 'from', 'to'];

/** The changes as CSV: a row for each field that differs, and one for a change without such. */
export const changesCsv = (changes: readonly ListedChange[]): string => csvOfRows([header, ...changes.flatMap(rowsOf)]);

function rowsOf(change: ListedChange): string[][] {
  const [record] = versionsOf(change);
  const { id, kind = '', committed_at: time = '', before } = change;
  const start = [id, record?.iccid ?? '', kind, time];
  const differences = kind === 'changed' && before && record ? rawDifferences(before, record) : [];
  if (differences.length === 0) return [[...start, '', '', '']];
  return differences.map(({ field, from, to }) => [...start, field, from, to]);
}
