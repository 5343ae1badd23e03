import { guardText, recordColumns, writeCsvLine } from '../contract/csv.ts';
import { type ReportFormat, reportFormats } from '../contract/report-format.ts';
import type { PageRecords, Separator } from '../storage/read/page-sql.ts';

/** The separator of the records that `writePage` formats. */
export const separatorOf = (format: ReportFormat): Separator => (format === 'json' ? ',' : '\n');

/** Formats the records of a page as a whole document, which has its own memory. */
export function writePage(format: ReportFormat, { bytes, count }: PageRecords): Buffer {
  switch (format) {
    case 'json':
      return enclose('[', bytes, ']');
    case 'ndjson':
      return enclose('', bytes, count === 0 ? '' : '\n');
    case 'csv':
      return Buffer.from(openRecords(format) + appendRecords(format, count === 0 ? [] : bytes.toString().split('\n')));
  }
}

function enclose(before: string, bytes: Buffer, after: string): Buffer {
  const document = Buffer.allocUnsafeSlow(before.length + bytes.length + after.length);
  document.write(before, 'latin1');
  bytes.copy(document, before.length);
  document.write(after, before.length + bytes.length, 'latin1');
  return document;
}

/** Returns the header of a streamed document: the column names in CSV, nothing in NDJSON. */
export function openRecords(format: Exclude<ReportFormat, 'json'>): string {
  return format === 'csv' ? writeCsvLine(recordColumns) : '';
}

/** Formats further records of a streamed document. */
export function appendRecords(format: Exclude<ReportFormat, 'json'>, records: readonly string[]): string {
  let lines = '';
  for (const record of records) lines += format === 'csv' ? writeCsvRecord(record) : `${record}\n`;
  return lines;
}

/** Headers of a format: its media type and, for CSV and NDJSON, a file name. */
export function describeFormat(format: ReportFormat): Record<string, string> {
  return {
    'content-type': reportFormats[format].contentType,
    ...(format !== 'json' && { 'content-disposition': `attachment; filename="subscriptions.${format}"` }),
  };
}

const productPrefix = 'product.';
const columns = recordColumns.map((column) =>
  column.startsWith(productPrefix) ? { ofProduct: column.slice(productPrefix.length) } : { ofRecord: column },
);

/** 1.7 µs a record, half of it JSON.parse; csv-stringify took 2.4 µs */
function writeCsvRecord(text: string): string {
  const record: Record<string, unknown> = JSON.parse(text);
  const product = record.product as Record<string, unknown> | undefined;
  return writeCsvLine(
    columns.map((column) => {
      const value = 'ofRecord' in column ? record[column.ofRecord] : product?.[column.ofProduct];
      return value === undefined ? '' : guardText(String(value));
    }),
  );
}
