import { DepthError, parseJson, RepeatedError } from '../../contract/json-object.ts';
import { readSummaryLine, summaryStart } from '../../contract/report.ts';
import { type RowFault, rowBytesMax, type SourceRow, shownName } from './check-row.ts';
import { utf8RuleOf } from './encoding.ts';
import { unreadable } from './source-head.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Reads NDJSON (one JSON object per line, UTF-8) and yields a row for each line that is not blank.
 * An unreadable line becomes a row with faults; a line longer than `rowBytesMax` is never held in
 * memory. The summary line at the end of our exports is not a row: throws if it has another number
 * of rows than there are since the previous summary or the beginning.
 */
export async function* readNdjson(source: AsyncIterable<Buffer>, parse = parseRow): AsyncGenerator<SourceRow> {
  let rows = 0;
  for await (const { number, bytes } of splitLines(source)) {
    const row = readLine(number, bytes, parse);
    if (row === undefined) continue;
    rows = countLine(rows, number, row.raw);
    if (rows > 0) yield row;
  }
}

/** The rows since the previous summary; throws if the line is a summary of another number. */
function countLine(rows: number, line: number, text: string): number {
  const summary = text.startsWith(summaryStart) ? readSummaryLine(text) : undefined;
  if (summary === undefined) return rows + 1;
  if (summary.rows === rows) return 0;
  throw unreadable(
    `up to line ${line}, the exported report must be complete: it had ${summary.rows} rows, ${rows} are present; export it again`,
  );
}

interface Line {
  /** From 1. */
  readonly number: number;
  /** The line without its end, truncated one byte after the maximum length. */
  readonly bytes: Buffer;
}

/** The lines of a source, without empty ones. */
async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const finish = (): Line => {
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    [parts, length] = [[], 0];
    number += 1;
    return { number, bytes };
  };
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; ) {
      const found = chunk.indexOf(newline, start);
      const end = found < 0 ? chunk.length : found;
      const isEmpty = length === 0 && (found === start || (found === start + 1 && chunk[start] === carriageReturn));
      if (isEmpty) {
        number += 1;
        start = found + 1;
        continue;
      }
      if (length <= rowBytesMax) parts.push(chunk.subarray(start, Math.min(end, start + rowBytesMax + 1 - length)));
      length += end - start;
      start = end + 1;
      if (found >= 0) yield finish();
    }
  }
  if (length > 0) yield finish();
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function readLine(line: number, bytes: Buffer, parse: typeof parseRow): SourceRow | undefined {
  if (bytes.length > rowBytesMax) {
    const raw = `${bytes.subarray(0, 80).toString('latin1')}…`;
    return { line, raw, content: fault(`at most ${rowBytesMax} bytes long`) };
  }
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    // the decoder throws TypeError for bytes that are not UTF-8
    return { line, raw: bytes.toString('latin1'), content: fault(utf8RuleOf(bytes)) };
  }
  if (text === '') return undefined;
  if (text.startsWith('[') && line === 1) {
    throw unreadable(
      "it must be NDJSON, one JSON object per line: it is a JSON array; convert it with: jq -c '.[]' FILE",
    );
  }
  return { line, raw: text, content: parse(text) };
}

/** How deep a row may be. A valid row has 2 levels; the fault of another one names its field. */
const rowDepthMax = 4;

/** A member's number that is not written as a whole one; a valid row has none. */
const oddNumber = /(?<!\\)"\s*:\s*(?!\d{1,9}(?:\.0+)?\s*[,}])(-?\d[^\s,}]*)/;

/** Parses the JSON of a row. A number that parsing would make whole, `1e-400`, stays a string. */
function parseRow(text: string): SourceRow['content'] {
  try {
    const value = parseJson(text, rowDepthMax);
    const row = (value ?? {}) as { auto_renew?: unknown; readonly product?: { period?: unknown } };
    const [, digits] = oddNumber.exec(text) ?? [];
    if (row.product?.period === Number(digits) && Number.isInteger(Number(digits))) row.product.period = digits;
    if (row.auto_renew === Number(digits)) row.auto_renew = digits;
    return { value };
  } catch (error) {
    if (error instanceof RepeatedError) return fault('given once, not repeatedly', shownName(error.path));
    if (error instanceof DepthError) return fault(`a JSON object ${error.rule}`);
    return fault(`a JSON object on one line (${withoutSource(error as SyntaxError)})`);
  }
}

/** The parser's message without its quote of the row, which may be an email address. */
const withoutSource = ({ message }: SyntaxError): string => message.replace(/, (\.\.\.)?".*/s, '');

const fault = (rule: string, field = ''): { readonly faults: readonly RowFault[] } => ({
  faults: [{ field, value: null, rule }],
});
