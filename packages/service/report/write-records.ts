import { formatNotFound } from '../../contract/listed-values.ts';
import { type ReportFormat, reportFormats } from '../../contract/report.ts';
import type { PageRecords } from '../storage/read/page-sql.ts';
import type { Layout } from '../storage/utf8-column.ts';
import { CsvLines, csvHeader } from './csv-lines.ts';
import type { ReportQuery } from './report-query.ts';
import type { NotFound } from './run.ts';
import { createSelection } from './select-fields.ts';

type Shown = Pick<ReportQuery, 'format' | 'fields' | 'datesIn'>;

/** The layout of the records that `writePage` formats. */
export const layoutOf = ({ format, fields }: Shown): Layout =>
  format === 'json' && fields === undefined ? 'array' : 'lines';

export function writePage({ format, fields, datesIn }: Shown, { bytes, count }: PageRecords): Buffer {
  const select = fields === undefined ? (lines: Buffer) => lines : createSelection({ format, fields });
  switch (format) {
    case 'json':
      return count === 0 ? Buffer.from('[]') : select(bytes);
    case 'ndjson':
      return select(bytes);
    case 'csv':
      return Buffer.concat([csvHeader(fields), select((datesIn ? new CsvLines(datesIn) : csvLines).convert(bytes))]);
    case 'parquet':
      throw new TypeError('Cannot write a page as Parquet: the parser must have refused it');
  }
}

/** Shared by all pages with dates in UTC: `writePage` copies its lines before it returns. */
const csvLines = new CsvLines();

/** Headers of a format: its media type and, unless it is JSON, a file name. */
export function describeFormat(format: ReportFormat): Record<string, string> {
  return {
    'content-type': reportFormats[format].contentType,
    ...(format !== 'json' && { 'content-disposition': `attachment; filename="subscriptions.${format}"` }),
  };
}

/** The explanation as a header: percent-encoded, but for printable ASCII without `%`. */
export const describeExplanation = (explanation: string | undefined): Record<string, string> =>
  explanation === undefined
    ? {}
    : { 'x-explanation': explanation.replaceAll(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent) };

/** The header of the listed values that no record has, if the query has lists. */
export const describeNotFound = (notFound: NotFound | undefined): Record<string, string> =>
  notFound === undefined ? {} : { 'x-not-found': formatNotFound(notFound) };
