import { ImportError } from './error.ts';
import { type RowFault, rowBytesMax, type SourceRow } from './source-row.ts';

const newline = 0x0a;

/**
 * Reads NDJSON (one JSON object per line, UTF-8): a row for each line that is not blank. A line that cannot be read is a row with its fault; lines
 * longer than 1 MiB are never held in memory.
 */
export async function* readNdjson(source: AsyncIterable<Buffer>): AsyncGenerator<SourceRow> {
  let number = 0;
  for await (const bytes of splitLines(source)) {
    number += 1;
    const row = readLine(number, bytes);
    if (row !== undefined) yield row;
  }
}

/** The lines of a source without their ends, each cut one byte past the longest that is read. */
async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer): void => {
    if (length <= rowBytesMax) parts.push(part.subarray(0, rowBytesMax + 1 - length));
    length += part.length;
  };
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      yield parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (length > 0) yield Buffer.concat(parts);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function readLine(line: number, bytes: Buffer): SourceRow | undefined {
  const fault = (raw: string, rule: string): SourceRow => {
    const faults: RowFault[] = [{ field: '', value: null, rule }];
    return { line, raw, content: { faults } };
  };
  if (bytes.length > rowBytesMax) {
    return fault(`${bytes.subarray(0, 80).toString('latin1')}…`, `at most ${rowBytesMax} bytes long`);
  }
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return fault(bytes.toString('latin1'), 'UTF-8 text'); // TypeError of the decoder: not UTF-8
  }
  if (text === '') return undefined;
  if (text.startsWith('[') && line === 1) {
    throw new ImportError(
      'UNREADABLE',
      "Cannot import a JSON array: the source must be NDJSON, one JSON object per line; convert it with: jq -c '.[]' FILE",
    );
  }
  try {
    return { line, raw: text, content: { value: JSON.parse(text) } };
  } catch (error) {
    return fault(text, `a JSON object on one line (${(error as SyntaxError).message})`);
  }
}
