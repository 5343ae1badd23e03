import { type ReportFormat, reportFormats } from '../contract/report-format.ts';
import type { PageRecords, Separator } from '../storage/read/page-sql.ts';
import { CsvLines, csvHeader } from './csv-lines.ts';

/** The separator of the records that `writePage` formats. */
export const separatorOf = (format: ReportFormat): Separator => (format === 'json' ? ',' : '\n');

/** Formats the records of a page as a whole document, which has its own memory. */
export function writePage(format: ReportFormat, { bytes, count }: PageRecords): Buffer {
  switch (format) {
    case 'json':
      return enclose('[', bytes, ']');
    case 'ndjson':
      return writeLines(bytes, count);
    case 'csv':
      return Buffer.concat([Buffer.from(csvHeader), csvLines.convert(writeLines(bytes, count))]);
  }
}

/** Its memory is copied before the next page is formatted. */
const csvLines = new CsvLines();

const writeLines = (bytes: Buffer, count: number): Buffer => enclose('', bytes, count === 0 ? '' : '\n');

function enclose(before: string, bytes: Buffer, after: string): Buffer {
  const document = Buffer.allocUnsafeSlow(before.length + bytes.length + after.length);
  document.write(before, 'latin1');
  bytes.copy(document, before.length);
  document.write(after, before.length + bytes.length, 'latin1');
  return document;
}

/** Headers of a format: its media type and, for CSV and NDJSON, a file name. */
export function describeFormat(format: ReportFormat): Record<string, string> {
  return {
    'content-type': reportFormats[format].contentType,
    ...(format !== 'json' && { 'content-disposition': `attachment; filename="subscriptions.${format}"` }),
  };
}
