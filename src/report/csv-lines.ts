import { guardText, recordColumns, writeCsvLine } from '../contract/csv.ts';
import { Subscription } from '../contract/subscription.ts';

// CSV from the stored JSON of records. A regular expression converts the records whose JSON is as
// an import writes it and whose values need at most quotes, in a quarter of the time of
// `writeOtherRecord` (docs/decisions/report-formats.md).

/** The first line: the names of the columns. */
export const csvHeader = writeCsvLine(recordColumns);

/**
 * Converts records, each followed by a line feed, to CSV lines. Their UTF-8 is read as Latin-1, one
 * character per byte, and so must the lines be written.
 */
export function writeCsvLines(records: Buffer): string {
  return records.toString('latin1').replace(simpleRecord, simpleLine).replace(otherRecord, writeOtherRecord);
}

/** Splits lines into parts of at most `bytesMax`, or of one line that is longer. */
export function* splitLines(lines: Buffer, bytesMax: number): Generator<Buffer> {
  for (let start = 0; start < lines.length; ) {
    const end = Math.max(lines.lastIndexOf(lineFeed, start + bytesMax - 1), lines.indexOf(lineFeed, start)) + 1;
    yield lines.subarray(start, end);
    start = end;
  }
}

const lineFeed = 10;

/** The JSON of a value as a regular expression, and its cells in terms of its groups. */
interface Conversion {
  readonly pattern: string;
  readonly cells: readonly string[];
  readonly groups: number;
}

/** The parts of a schema that decide how its values are converted. */
interface Schema {
  readonly type?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Characters that JSON escapes in strings. */
const escaped = '"\\\\\\x00-\\x1f';
/**
 * First characters of strings that `guardText` may change: EF is the first byte of the full-width
 * ones. No line begins with a brace, by which `otherRecord` finds the records that remain.
 */
const guarded = "\\-=+@'\\xef{";
const withoutComma = `(?:[^,${guarded}${escaped}][^,${escaped}]*)?`;

/** Converts a value; its first group has the number `first`. */
function convertValue(schema: Schema, first: number): Conversion {
  const { type, pattern = '^$', properties, required } = schema;
  if (properties !== undefined) return convertObject(properties, required, first);
  if (type === 'integer') return { pattern: '(0|[1-9][0-9]*)', cells: [`$${first}`], groups: 1 };
  if (!new RegExp(pattern).test(',')) return { pattern: `"(${withoutComma})"`, cells: [`$${first}`], groups: 1 };
  // with a comma, the cell has the same quotes as the JSON
  const either = `(?:"(${withoutComma})"|("${withoutComma},[^${escaped}]*"))`;
  return { pattern: either, cells: [`$${first}$${first + 1}`], groups: 2 };
}

function convertObject(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  first: number,
): Conversion {
  const cells: string[] = [];
  let groups = 0;
  const members = Object.entries(properties).map(([name, schema], index) => {
    const value = convertValue(schema, first + groups);
    groups += value.groups;
    cells.push(...value.cells);
    const member = `${index === 0 ? '' : ','}"${name}":${value.pattern}`;
    return required.includes(name) ? member : `(?:${member})?`;
  });
  return { pattern: `\\{${members.join('')}\\}`, cells, groups };
}

const { pattern, cells } = convertValue(Subscription, 1);
const simpleRecord = new RegExp(`^${pattern}\\n`, 'gm');
const simpleLine = `${cells.join(',')}\r\n`;

const otherRecord = /^\{.*\n/gm;

const productPrefix = 'product.';
const columns = recordColumns.map((column) =>
  column.startsWith(productPrefix) ? { ofProduct: column.slice(productPrefix.length) } : { ofRecord: column },
);

function writeOtherRecord(bytes: string): string {
  const isAscii = !beyondAscii.test(bytes);
  const record: Record<string, unknown> = JSON.parse(isAscii ? bytes : Buffer.from(bytes, 'latin1').toString());
  const product = record.product as Record<string, unknown> | undefined;
  const line = writeCsvLine(
    columns.map((column) => {
      const value = 'ofRecord' in column ? record[column.ofRecord] : product?.[column.ofProduct];
      return value === undefined ? '' : guardText(String(value));
    }),
  );
  // an escape such as \u00e9 adds characters beyond ASCII
  return beyondAscii.test(line) ? Buffer.from(line).toString('latin1') : line;
}

const beyondAscii = /[\u0080-\uffff]/;
