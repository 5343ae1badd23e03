import { readCsvRows } from '../../../contract/csv-header.ts';
import type { FileKind } from './describe-file.ts';

/** The first rows of a file, of which the first one names the columns. */
export type FirstRows = readonly (readonly string[])[];

/** Rows below the names, and characters, in which values are looked for. */
const rowsMax = 10_000;
const charactersMax = 16_777_216;

/** The first rows of a CSV file; none if they cannot be read here, as of zstd. */
export async function readRows(file: Blob, { format, encoding }: FileKind, charset: string): Promise<FirstRows> {
  if (format !== 'csv' || encoding === 'zstd') return [];
  const bytes = encoding === 'gzip' ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
  const rows = readCsvRows(await firstText(bytes.pipeThrough(new TextDecoderStream(charset))), rowsMax + 1);
  // what is no text in this encoding is refused by the service, with its remedy
  return rows[0]?.some((name) => /[\0\ufffd]/.test(name)) ? [] : rows;
}

/** The beginning of a text with at least as many lines as rows are read. */
async function firstText(source: ReadableStream<string>): Promise<string> {
  const reader = source.getReader();
  let [text, lines] = ['', 0];
  try {
    while (lines <= 2 * rowsMax && text.length < charactersMax) {
      const { done, value = '' } = await reader.read();
      if (done) break;
      text += value;
      lines += value.split('\n').length - 1;
    }
  } catch {
    // TypeError: damaged, which the service says better
  } finally {
    void reader.cancel().catch(() => undefined);
  }
  return text;
}
