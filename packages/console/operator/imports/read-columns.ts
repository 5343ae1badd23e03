import { readCsvHeader } from '../../../contract/csv-header.ts';
import type { FileKind } from './describe-file.ts';

/** Bytes in which the header of a file ends. */
const headBytes = 65_536;

/** The names of the columns of a CSV file; empty if they cannot be read here, as of zstd. */
export async function readColumns(file: Blob, { format, encoding }: FileKind): Promise<readonly string[]> {
  if (format !== 'csv' || encoding === 'zstd') return [];
  const head = file.slice(0, headBytes);
  const text = new TextDecoder().decode(encoding === 'gzip' ? await firstUnpacked(head) : await head.arrayBuffer());
  const names = readCsvHeader(text);
  // what is no text in UTF-8 is refused by the service, with its remedy
  return names.some((name) => /[\0\ufffd]/.test(name)) ? [] : names;
}

/** The first bytes of gzip; the rest of its beginning may be cut. */
async function firstUnpacked(head: Blob): Promise<Uint8Array> {
  const reader = head.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    return (await reader.read()).value ?? new Uint8Array();
  } catch {
    return new Uint8Array(); // TypeError: damaged, which the service says better
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
