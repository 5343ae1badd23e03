import { guardText, recordColumns, revealText, writeCsvLine, writeRecordLine } from '../../contract/csv.ts';
import { recordFields } from '../../contract/record-fields.ts';
import type { Zone } from '../../contract/zone.ts';
import { SyncError } from './error.ts';
import { type CsvFlavor, columnsOf } from './file-format.ts';
import { requireLineLength } from './read-source.ts';
import { fromSheetDate, toSheetDate } from './sheet-dates.ts';

/** The names of the columns in the export of the service, and in a file. */
const exportHeader = writeCsvLine(recordColumns);
const headerOf = (zone?: Zone): string => writeCsvLine(columnsOf('csv', zone).map(({ name }) => name));

/**
 * Converts the CSV export of the service to the content of a file. Throws `SyncError`
 * `SOURCE_UNKNOWN` if it has other columns than this version knows.
 */
export async function* fileOfExport(
  bytes: AsyncIterable<Uint8Array>,
  { values, zone }: CsvFlavor,
): AsyncGenerator<Uint8Array, void, undefined> {
  const convert = values === 'raw' ? revealLines : dateConverter(zone, toSheetDate);
  let isFirst = true;
  for await (const text of wholeLines(bytes)) {
    if (isFirst && !text.startsWith(exportHeader))
      throw new SyncError(
        'SOURCE_UNKNOWN',
        `Cannot copy the report: it must have the columns that this version of subreport knows; install the version of the service: current value is ${text.slice(0, 1_000).split('\r\n')[0]}`,
      );
    yield Buffer.from(isFirst ? headerOf(zone) + convert(text.slice(exportHeader.length)) : convert(text));
    isFirst = false;
  }
}

/** The export whose file this is: `fileOfExport` gives the file again. Its header is kept. */
export class ExportOfFile {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #flavor: CsvFlavor;
  /** The line of the column names, once it was read. */
  header = '';

  constructor(bytes: AsyncIterable<Uint8Array>, flavor: CsvFlavor) {
    this.#bytes = bytes;
    this.#flavor = flavor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { values, zone } = this.#flavor;
    const convert = values === 'raw' ? guardLines : dateConverter(zone, fromSheetDate);
    const fileHeader = headerOf(zone);
    let isFirst = true;
    for await (const text of wholeLines(this.#bytes)) {
      if (isFirst) this.header = text.split(/\r?\n/, 1)[0] ?? '';
      const isRenamed = isFirst && text.startsWith(fileHeader);
      yield Buffer.from(isRenamed ? exportHeader + convert(text.slice(fileHeader.length)) : convert(text));
      isFirst = false;
    }
  }
}

/** The line of the column names of a file. */
export const csvHeader = headerOf().trimEnd();

/** The cells of a line; `undefined` for one that is absent. No cell has a line break. */
export const cellsOf = (line: string): readonly (string | undefined)[] =>
  [...line.replace(/\r$/, '').matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? (plain === '' ? undefined : plain),
  );

/** Most lines have nothing to convert, and are not parsed. */
const revealLines = (text: string): string =>
  text.includes("'") ? text.replace(/[^\n]*'[^\n]*/g, (line) => convertLine(line, revealText)) : text;

const guardedCell = /(?:^|,)"?'*[=+\-@\t＝＋－＠]/m;
const guardLines = (text: string): string =>
  guardedCell.test(text)
    ? text.replace(/[^\n]+/g, (line) => (guardedCell.test(line) ? convertLine(line, guardText) : line))
    : text;

/** Converts the dates of lines; without a zone, all are in UTC and stay as they are. */
function dateConverter(
  zone: Zone | undefined,
  convert: (zone: Zone, text: string) => string,
): (text: string) => string {
  if (zone === undefined) return (text) => text;
  const ofCell = (cell: string, index: number) =>
    recordFields[index]?.type === 'instant' ? convert(zone, cell) : cell;
  return (text) => text.replace(/[^\n]+/g, (line) => convertLine(line, ofCell));
}

function convertLine(line: string, convert: (text: string, index: number) => string): string {
  const cells = cellsOf(line);
  // what is no record stays as it is, so that a comparison names it
  if (cells.length !== recordFields.length) return line;
  const written = writeRecordLine(cells.map((cell, index) => (cell === undefined ? undefined : convert(cell, index))));
  return written.slice(0, line.endsWith('\r') ? -1 : -2);
}

/** Yields text that ends at the end of a line, and last what follows the last one. */
async function* wholeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // an invalid byte must not become a character that is written instead
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  for await (const chunk of bytes) {
    const text = rest + decode(() => decoder.decode(chunk, { stream: true }));
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    requireLineLength(rest);
    if (end > 0) yield text.slice(0, end);
  }
  rest += decode(() => decoder.decode());
  if (rest !== '') yield rest;
}

function decode(work: () => string): string {
  try {
    return work();
  } catch (error) {
    throw new SyncError('NOT_EQUAL', 'it must be text in UTF-8', { cause: error });
  }
}
