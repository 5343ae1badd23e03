import { selectColumns } from './csv-columns.ts';
import { RecordProjection } from './project-records.ts';
import type { ReportQuery } from './report-query.ts';

/**
 * Returns a function that selects the fields of a query from records: lines of `CsvLines` for CSV,
 * otherwise lines of stored JSON, which become an array if the format is JSON.
 */
export function createSelection({
  format,
  fields,
}: Pick<ReportQuery, 'format'> & { readonly fields: readonly string[] }): (lines: Buffer) => Buffer {
  if (format === 'csv') return (lines) => selectColumns(lines, fields);
  const projection = new RecordProjection(fields);
  return (lines) => projection.convert(lines, format === 'json' ? 'array' : 'lines');
}
