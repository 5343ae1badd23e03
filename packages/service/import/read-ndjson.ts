import { createHash, type Hash } from 'node:crypto';
import { BoundsError, type JsonBounds, parseJson, RepeatedError } from '../../contract/json-object.ts';
import { shorten } from '../../contract/problem.ts';
import { Product } from '../../contract/product.ts';
import { type ExportSummary, readSummaryLine, summaryStart } from '../../contract/report.ts';
import { ruleOf } from '../../contract/schema.ts';
import { type RowFault, rowBytesMax, type SourceRow, shownName, utf8Rule } from './check-row.ts';
import { ImportError } from './error.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Reads NDJSON (one JSON object per line, UTF-8) and yields a row for each line that is not blank.
 * An unreadable line becomes a row with faults; a line longer than `rowBytesMax`
 * is never held in memory.
 * The summary line at the end of our exports is not a row: it is checked against the lines since
 * the previous summary or the beginning, and a mismatch throws. Without `needsValues`, rows
 * are only counted: their values are `undefined`.
 */
export async function* readNdjson(source: AsyncIterable<Buffer>, needsValues = true): AsyncGenerator<SourceRow> {
  let rows = 0;
  for await (const { number, bytes, summary, sha256 } of splitLines(source)) {
    if (summary !== undefined) {
      if (summary.rows !== rows || summary.sha256 !== sha256) throw notWhole(number, summary.rows, rows);
      rows = 0;
      continue;
    }
    const row = readLine(number, bytes, needsValues);
    if (row === undefined) continue;
    rows += 1;
    yield row;
  }
}

const notWhole = (line: number, expected: number, found: number): ImportError =>
  new ImportError(
    'UNREADABLE',
    `Cannot import past line ${line}: the exported report must be complete and unchanged: it had ${expected} rows, ${found} are present, ${expected === found ? 'but their bytes differ' : 'the rest is missing'}; export it again`,
  );

interface Line {
  /** From 1. */
  readonly number: number;
  /** The line without its end, truncated one byte after the maximum length. */
  readonly bytes: Buffer;
  /** The contents of a summary line, and the SHA-256 of the bytes since the previous summary. */
  readonly summary?: ExportSummary;
  readonly sha256?: string;
}

/** The lines of a source, without empty ones. */
async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  let hash = createHash('sha256');
  let before: Hash | undefined; // the hash at the beginning of a line that may be a summary
  const keep = (part: Buffer): void => {
    if (length <= rowBytesMax) parts.push(part.subarray(0, rowBytesMax + 1 - length));
    length += part.length;
  };
  const finish = (): Line => {
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    const summary = before && readSummaryLine(bytes.toString('latin1'));
    number += 1;
    const line = { number, bytes, ...(before && summary && { summary, sha256: before.digest('hex') }) };
    parts = [];
    length = 0;
    before = undefined;
    return line;
  };
  for await (const chunk of source) {
    let start = 0;
    let hashed = 0;
    while (start < chunk.length) {
      const blank = length === 0 ? blankLength(chunk, start) : 0;
      if (blank > 0) {
        number += 1;
        start += blank;
        continue;
      }
      if (length === 0 && mayBeSummary(chunk.subarray(start))) {
        hash.update(chunk.subarray(hashed, start));
        hashed = start;
        before = hash.copy();
      }
      const end = chunk.indexOf(newline, start);
      keep(chunk.subarray(start, end < 0 ? chunk.length : end));
      start = end < 0 ? chunk.length : end + 1;
      if (end < 0) break;
      const line = finish();
      yield line;
      if (line.summary === undefined) continue;
      hash = createHash('sha256');
      hashed = start;
    }
    hash.update(chunk.subarray(hashed));
  }
  if (length > 0) yield finish();
}

/** Bytes of the empty line at this position; 0 if there is none. */
function blankLength(chunk: Buffer, start: number): number {
  if (chunk[start] === newline) return 1;
  return chunk[start] === carriageReturn && chunk[start + 1] === newline ? 2 : 0;
}

const summaryBytes = Buffer.from(summaryStart);

/**
 * Whether a line with these first bytes may be a summary; at the end of a chunk there may be few.
 */
const mayBeSummary = (bytes: Buffer): boolean =>
  summaryBytes.subarray(0, bytes.length).equals(bytes.subarray(0, summaryBytes.length));

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function readLine(line: number, bytes: Buffer, needsValue: boolean): SourceRow | undefined {
  if (bytes.length > rowBytesMax) {
    const raw = `${bytes.subarray(0, 80).toString('latin1')}…`;
    return { line, raw, content: fault(`at most ${rowBytesMax} bytes long`) };
  }
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    // the decoder throws TypeError for bytes that are not UTF-8
    return { line, raw: bytes.toString('latin1'), content: fault(utf8Rule) };
  }
  if (text === '') return undefined;
  if (!needsValue) return { line, raw: '', content: { value: undefined } };
  if (text.startsWith('[') && line === 1) {
    throw new ImportError(
      'UNREADABLE',
      "Cannot import a JSON array: the source must be NDJSON, one JSON object per line; convert it with: jq -c '.[]' FILE",
    );
  }
  return { line, raw: text, content: parseRow(text) };
}

/**
 * Deepest nesting and most values of a row that is parsed: values without content take 30 times
 * the memory of their text. A valid row has 2 and 17; the fault of another one names its field.
 */
const rowBounds: JsonBounds = { depthMax: 4, valuesMax: 64 };

/** Parses the JSON of a row. */
function parseRow(text: string): SourceRow['content'] {
  try {
    const value = parseJson(text, rowBounds);
    const period = inexactPeriod(value, text);
    if (period === undefined) return { value };
    return { faults: [{ field: 'product.period', value: shorten(period), rule: ruleOf(Product.properties.period) }] };
  } catch (error) {
    if (error instanceof RepeatedError)
      return { faults: [{ field: shownName(error.path), value: null, rule: 'given once, not repeatedly' }] };
    if (error instanceof BoundsError) return fault(`a JSON object with ${error.rule}`);
    return fault(`a JSON object on one line (${withoutSource(error as SyntaxError)})`);
  }
}

/** The parser's message without its quote of the row, which may be an email address. */
const withoutSource = ({ message }: SyntaxError): string => message.replace(/, (\.\.\.)?".*/s, '');

/** The usual integer period, which parsing cannot round. */
const plainPeriod = /"period"\s*:\s*(\d{1,9})\s*[,}]/;

/** The text of a period that parsing rounds: `30.00000000000000000001`. */
function inexactPeriod(value: unknown, text: string): string | undefined {
  const { product } = (value ?? {}) as { readonly product?: { readonly period?: unknown } };
  const period = product?.period;
  if (typeof period !== 'number' || Number(plainPeriod.exec(text)?.[1]) === period) return undefined;
  const source = numbersIn(text).product?.period;
  return source === undefined || /^\d{1,9}(\.0+)?$/.test(source) ? undefined : source;
}

/** Parses a row; its numbers are the texts of the source. */
function numbersIn(text: string): { readonly product?: { readonly period?: string } } {
  const asWritten = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? context?.source : value;
  return JSON.parse(text, asWritten);
}

const fault = (rule: string): { readonly faults: readonly RowFault[] } => ({
  faults: [{ field: '', value: null, rule }],
});
