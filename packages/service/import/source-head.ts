import { ImportError } from './error.ts';

/** First bytes of files that are no text, with what they are and what to do. */
const containers: readonly (readonly [bytes: string, what: string, remedy: string])[] = [
  ['PK\x03\x04', 'a workbook or a zip archive', 'save the sheet as CSV UTF-8, or unpack it'],
  ['\xd0\xcf\x11\xe0', 'a workbook (.xls)', 'save the sheet as CSV UTF-8'],
  ['%PDF', 'a PDF', 'export CSV or NDJSON'],
  ['PAR1', 'Parquet', 'export CSV or NDJSON'],
  ['SQLite format 3', 'a database of SQLite', 'export CSV or NDJSON'],
  ['BZh', 'compressed by bzip2', 'unpack it, or use gzip or zstd'],
  ['\xfd7zXZ', 'compressed by xz', 'unpack it, or use gzip or zstd'],
  ['7z\xbc\xaf', 'a 7z archive', 'unpack it'],
  ['\x1f\x8b', 'compressed twice', 'unpack it once'],
];

/** Encodings that put NULs into plain text. */
const encodings: readonly (readonly [first: RegExp, name: string])[] = [
  [/^(\xff\xfe\0\0|[^\0]\0\0\0)/, 'UTF-32LE'],
  [/^(\0\0\xfe\xff|\0\0\0[^\0])/, 'UTF-32BE'],
  [/^(\xff\xfe|[^\0]\0[^\0]\0)/, 'UTF-16LE'],
  [/^(\xfe\xff|\0[^\0]\0[^\0])/, 'UTF-16BE'],
];

/** As many bytes as show what a file is. */
const headBytes = 16;

/** Yields a source; throws `ImportError` if its first bytes show that it is no text in UTF-8. */
export async function* checkedText(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, whole } = await readHead(source, ({ length }) => length >= headBytes);
  requireText(head);
  yield* whole;
}

function requireText(head: Buffer): void {
  const first = head.subarray(0, headBytes).toString('latin1');
  const container = containers.find(([bytes]) => first.startsWith(bytes));
  if (container !== undefined) throw unreadable(`it must be text: it is ${container[1]}; ${container[2]}`);
  const encoding = encodings.find(([bytes]) => bytes.test(first))?.[1];
  const name = encoding?.startsWith('UTF-16') ? 'name its encoding (--encoding, charset), or ' : '';
  if (encoding !== undefined)
    throw unreadable(`it must be UTF-8: it is ${encoding}; ${name}convert it with: iconv -f ${encoding} -t UTF-8 FILE`);
  if (/^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|table)/i.test(first))
    throw unreadable('it must be NDJSON or CSV: it is HTML or XML, perhaps the page of an error; export it again');
}

export const unreadable = (fault: string): ImportError =>
  new ImportError('UNREADABLE', `Cannot import the file: ${fault}`);

/** The first bytes of a source, at least as many as `isEnough` asks for, and the whole source. */
export async function readHead(
  source: AsyncIterable<Buffer>,
  isEnough: (head: Buffer) => boolean,
): Promise<{ readonly head: Buffer; readonly whole: AsyncIterable<Buffer> }> {
  const chunks = source[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let [length, next] = [0, 1];
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    read.push(value);
    length += value.length;
    if (length < next) continue;
    if (isEnough(Buffer.concat(read))) break;
    next = 2 * length; // a source of small chunks is looked at a few times, not after each
  }
  return { head: Buffer.concat(read), whole: rejoin(read, chunks) };
}

/** Yields what was read of a source, then the rest. */
async function* rejoin(head: readonly Buffer[], chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  } finally {
    await chunks.return?.();
  }
}
