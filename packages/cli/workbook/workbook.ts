import { writeXlsxStream } from 'hucre/xlsx';
import { fieldWords } from '../../contract/field-words.ts';
import { localText } from '../../contract/local-text.ts';
import { type FieldType, type RecordField, recordFields, valueAt } from '../../contract/record-fields.ts';
import type { Subscription } from '../../contract/subscription.ts';
import type { Zone } from '../../contract/zone.ts';

/** A sheet has 1,048,576 rows at most; the first one has the headings. */
export const workbookRecordsMax = 1_048_575;

type Bytes = Uint8Array<ArrayBuffer>;
type Cell = string | number | boolean | Date | null;

/** The formats and widths of the types of fields. */
const formats = {
  text: { width: 22, numFmt: '@' },
  instant: { width: 22, numFmt: 'yyyy-mm-dd hh:mm:ss' },
  integer: { width: 10, numFmt: '0' },
  boolean: { width: 10, numFmt: 'General' },
} as const satisfies Record<FieldType, object>;

/** Headings that are not the name of the field in words. */
const headings: Readonly<Record<string, string>> = {
  activationDate: 'Activated',
  expirationDate: 'Ends',
  createdDate: 'Created',
  'product.name': 'Product',
  'product.period': 'Period',
  'product.period_unit': 'Period unit',
  'product.plan_id': 'Plan id',
  iccid: 'ICCID',
  device_id: 'Device',
  auto_renew: 'Renews',
};

const columnOf = ({ name, type }: RecordField, zone: Zone | undefined) => ({
  header: `${headings[name] ?? fieldWords(name)}${type === 'instant' ? ` (${zone?.name ?? 'UTC'})` : ''}`,
  ...formats[type],
  ...(name === 'status' && { width: 12 }),
});

export interface WorkbookOptions {
  /** The names of the columns, in their order; all in the order of the CSV columns if absent. */
  readonly fields?: readonly string[] | undefined;
  /** The zone of the dates, which their headings name; UTC if absent. */
  readonly zone?: Zone | undefined;
}

/**
 * Makes a workbook with one sheet of a report in NDJSON. Its memory does not grow with the records;
 * a report of more than `workbookRecordsMax` would continue on a second sheet.
 */
export function writeWorkbook(
  report: ReadableStream<Bytes>,
  { fields, zone }: WorkbookOptions = {},
): ReadableStream<Bytes> {
  const chosen = fields?.flatMap((name) => recordFields.find((field) => field.name === name) ?? []) ?? recordFields;
  const options = {
    name: 'Subscriptions',
    columns: chosen.map((field) => columnOf(field, zone)),
    freezePane: { rows: 1 },
    repeatHeaders: false,
  };
  return writeXlsxStream(readRows(report, chosen, zone), options) as ReadableStream<Bytes>;
}

/** Reads the lines of NDJSON as rows of a sheet. Not every browser can iterate over a stream. */
async function* readRows(
  report: ReadableStream<Bytes>,
  fields: readonly RecordField[],
  zone: Zone | undefined,
): AsyncGenerator<Cell[]> {
  const decoder = new TextDecoder();
  const reader = report.getReader();
  let rest = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield rowOf(JSON.parse(line), fields, zone);
    }
  } finally {
    reader.cancel().catch(() => undefined); // without effect at the end or after an error
  }
  if (rest !== '') throw new Error('Cannot read the export: its last line must end with a line feed');
}

/** The cells of a record. Strings become text cells, which a spreadsheet never evaluates. */
const rowOf = (record: Subscription, fields: readonly RecordField[], zone: Zone | undefined): Cell[] =>
  fields.map((field) => cellOf(field, valueAt(record, field), zone));

function cellOf({ type }: RecordField, value: unknown, zone: Zone | undefined): Cell {
  if (value === undefined) return null;
  if (type === 'instant') return zone === undefined ? dateCell(String(value)) : localCell(zone, String(value));
  if (type === 'integer') return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return textCell(String(value));
}

/**
 * Characters that must be escaped in a text: the characters that XML 1.0 forbids (§2.2), a carriage
 * return, which XML reads as a line feed (§2.11), and what a spreadsheet would read as an escape.
 */
const unwritable = /_(?=x[0-9A-Fa-f]{4}_)|(?![\t\n])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu;

/** A spreadsheet reads `_x0041_` in a text as the character A (ECMA-376 part 1, §22.9.2.19). */
function textCell(value = ''): string | null {
  const escaped = (character: string): string =>
    `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  return value === '' ? null : value.replaceAll(unwritable, escaped);
}

/** Spreadsheets count days from 1900, which they treat as a leap year: earlier dates stay text. */
function dateCell(value: string): Date | string {
  const date = new Date(value);
  return value >= '1900-03-01' && !Number.isNaN(date.getTime()) ? date : value;
}

/** A date in the zone of its heading; one that `localText` leaves in UTC is text, which says so. */
function localCell(zone: Zone, value: string): Date | string {
  const [text, local] = /^(.{19})[+-]\d{2}:\d{2}$/.exec(localText(zone, value)) ?? [];
  if (text === undefined || local === undefined) return value;
  const cell = dateCell(`${local}Z`);
  return typeof cell === 'string' ? text : cell;
}
