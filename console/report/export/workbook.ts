import { writeXlsxStream } from 'hucre/xlsx';
import type { Subscription } from '../../../src/client/index.ts';

/** The columns of a workbook, in order; each has a heading. */
export const workbookColumns = [
  'id',
  'status',
  'activationDate',
  'expirationDate',
  'createdDate',
  'product.id',
  'product.name',
  'product.period',
  'product.period_unit',
  'product.plan_id',
  'iccid',
  'device_id',
  'auto_renew',
] as const;

export type WorkbookColumn = (typeof workbookColumns)[number];

/** The texts of a workbook. */
export interface WorkbookTexts {
  readonly sheet: string;
  readonly headings: Readonly<Record<WorkbookColumn, string>>;
}

type Cell = string | number | boolean | Date | null;

const numberFormats: Partial<Record<WorkbookColumn, string>> = {
  activationDate: 'yyyy-mm-dd hh:mm:ss',
  expirationDate: 'yyyy-mm-dd hh:mm:ss',
  createdDate: 'yyyy-mm-dd hh:mm:ss',
  'product.period': '0',
  auto_renew: 'General',
};
const text = '@';
const widths: Partial<Record<WorkbookColumn, number>> = { 'product.period': 10, auto_renew: 10, status: 12 };

/** Writes records to a workbook with one sheet. Its memory does not grow with the records. */
export function writeWorkbook(
  records: AsyncIterable<Subscription>,
  { sheet, headings }: WorkbookTexts,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const columns = workbookColumns.map((column) => ({
    header: headings[column],
    width: widths[column] ?? 22,
    numFmt: numberFormats[column] ?? text,
  }));
  const options = { name: sheet, columns, freezePane: { rows: 1 }, repeatHeaders: false };
  return writeXlsxStream(cellsOf(records), options) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

async function* cellsOf(records: AsyncIterable<Subscription>): AsyncGenerator<Cell[]> {
  for await (const record of records) yield rowOf(record);
}

/** The cells of a record. Strings become text cells, which a spreadsheet never evaluates. */
function rowOf({ product, ...record }: Subscription): Cell[] {
  return [
    textCell(record.id),
    textCell(record.status ?? ''),
    dateCell(record.activationDate),
    dateCell(record.expirationDate),
    dateCell(record.createdDate),
    textCell(product.id),
    textCell(product.name),
    product.period,
    textCell(product.period_unit),
    textCell(product.plan_id),
    textCell(record.iccid),
    textCell(record.device_id),
    record.auto_renew === 'true' || record.auto_renew === 'false'
      ? record.auto_renew === 'true'
      : textCell(record.auto_renew),
  ];
}

/**
 * What a text cannot have as itself: the characters that XML 1.0 forbids (§2.2), a carriage return,
 * which XML reads as a line feed (§2.11), and what a spreadsheet would read as an escape.
 */
const unwritable = /_(?=x[0-9A-Fa-f]{4}_)|(?![\t\n])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu;

/** A spreadsheet reads `_x0041_` in a text as the character A (ECMA-376 part 1, §22.9.2.19). */
function textCell(value: string): string | null {
  const escaped = (character: string): string =>
    `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  return value === '' ? null : value.replaceAll(unwritable, escaped);
}

/** Spreadsheets count days from 1900, which they treat as a leap year: earlier dates stay text. */
function dateCell(value: string): Date | string {
  const date = new Date(value);
  return value >= '1900-03-01' && !Number.isNaN(date.getTime()) ? date : value;
}
