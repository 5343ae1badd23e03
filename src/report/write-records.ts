import { guardText, recordColumns, writeCsvLine } from '../contract/csv.ts';
import { type ReportFormat, reportFormats } from '../contract/report.ts';
import { Subscription } from '../contract/subscription.ts';
import type { PageRecords } from '../storage/read/page-sql.ts';
import type { Layout } from '../storage/utf8-column.ts';

/** The layout of the records that `writePage` formats. */
export const layoutOf = (format: ReportFormat): Layout => (format === 'json' ? 'array' : 'lines');

export function writePage(format: ReportFormat, { bytes, count }: PageRecords): Buffer {
  switch (format) {
    case 'json':
      return count === 0 ? Buffer.from('[]') : bytes;
    case 'ndjson':
      return bytes;
    case 'csv':
      return Buffer.concat([Buffer.from(csvHeader), csvLines.convert(bytes)]);
  }
}

/** Headers of a format: its media type and, for CSV and NDJSON, a file name. */
export function describeFormat(format: ReportFormat): Record<string, string> {
  return {
    'content-type': reportFormats[format].contentType,
    ...(format !== 'json' && { 'content-disposition': `attachment; filename="subscriptions.${format}"` }),
  };
}

// CSV from the stored JSON of records. If a record's JSON is as an import writes it, and its values
// need at most quotes, one pattern converts it: 0.9 µs instead of 5 to parse it
// (docs/decisions/responses.md#report-formats). Bytes are characters here: UTF-8 needs no decoding.

/** The first line: the names of the columns. */
export const csvHeader = writeCsvLine(recordColumns);

/** Converts records to CSV lines, in memory that it uses again for the next ones. */
export class CsvLines {
  #memory: Buffer = Buffer.alloc(0);

  /** Converts records, each followed by a line feed. The lines are valid until the next call. */
  convert(records: Buffer): Buffer {
    const text = records.toString('latin1');
    if (text !== '' && !text.endsWith('\n'))
      throw new RangeError('Cannot convert records to CSV: a line feed must follow each');
    // no usual record has a carriage return, and every line of CSV ends with one
    if (text.includes('\r')) return this.#keep(text.replace(anyLine, parseLine));
    const lines = text.replace(usualRecord, usualLine);
    return this.#keep(hasOther.test(lines) ? lines.replace(otherLine, parseLine) : lines);
  }

  #keep(lines: string): Buffer {
    if (lines.length > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(lines.length + spareBytes);
    return this.#memory.subarray(0, this.#memory.write(lines, 'latin1'));
  }
}

/** Shared by all pages: `writePage` copies its lines before it returns. */
const csvLines = new CsvLines();

/** So that the memory of some lines usually suffices for the next ones. */
const spareBytes = 64 * 1024;

const anyLine = /[^\n]*\n/g;
/** A record that is not yet a line of CSV. */
const otherLine = /^[^\n]*(?<!\r)\n/gm;
/** Whether there is one, in a fourth of the time. */
const hasOther = /(?:^|[^\r])\n/;

/** The parts of a schema that decide how its values are converted. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

// EF begins the full-width characters of `guardText`
const plain = String.raw`(?![=+\-@'\xef])[^"\\\x00-\x1f,;]*`;
const quoted = String.raw`(?![=+\-@'\xef])[^"\\\x00-\x1f]*`;
/** A string that needs no guard: a cell without quotes, or one in quotes, as in JSON. */
const textCell = `(?:"(${plain})"|("${quoted}"))`;

/** The pattern of an object with its members in the order of its schema. */
const objectPattern = ({ properties = {}, required = [] }: Schema): string => {
  const members = Object.entries(properties).map(([name, schema], index) => {
    const cell =
      schema.properties !== undefined ? objectPattern(schema) : schema.type === 'string' ? textCell : '([0-9]+)()';
    const member = `${index === 0 ? '' : ','}"${name}":${cell}`;
    return required.includes(name) ? member : `(?:${member})?`;
  });
  return String.raw`\{${members.join('')}\}`;
};

const usualRecord = new RegExp(`^${objectPattern(Subscription)}\n`, 'gm');
const usualLine = `${recordColumns.map((_, index) => `$${2 * index + 1}$${2 * index + 2}`).join(',')}\r\n`;

const productPrefix = 'product.';

function parseLine(json: string): string {
  const record: Record<string, unknown> = JSON.parse(String(Buffer.from(json, 'latin1')));
  const product = record.product as Record<string, unknown> | undefined;
  const line = writeCsvLine(
    recordColumns.map((name) => {
      const value = name.startsWith(productPrefix) ? product?.[name.slice(productPrefix.length)] : record[name];
      return value === undefined ? '' : guardText(String(value));
    }),
  );
  return Buffer.from(line).toString('latin1');
}
