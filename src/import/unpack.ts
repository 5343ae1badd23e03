import { Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { ImportError } from './error.ts';

/** How a source is packed, by the bytes that it begins with (RFC 1952 §2.3.1, RFC 8878 §3.1.1). */
const packings: readonly { readonly name: string; readonly magic: Buffer; readonly create: () => Transform }[] = [
  { name: 'gzip', magic: Buffer.from([0x1f, 0x8b]), create: () => createGunzip() },
  { name: 'zstd', magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), create: () => createZstdDecompress() },
];
const magicBytes = 4;

/**
 * Unpacks a source that is gzip or zstd, whatever its name, and gives any other one as it is. Fails with `ImportError` when it is cut off or damaged, or
 * when more than `bytesMax` bytes come out of it: a small file can hold endless ones.
 */
export async function* unpack(source: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  const input = source[Symbol.asyncIterator]();
  try {
    const [head, more] = await readHead(input);
    yield* unpackFrom(head, joined(head, more, input), bytesMax);
  } finally {
    await input.return?.(); // nobody else ends it
  }
}

async function* unpackFrom(head: Buffer, whole: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  const packing = packings.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
  if (packing === undefined) {
    yield* whole;
    return;
  }
  const unpacked = packing.create();
  const packed = Readable.from(whole);
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  let bytes = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        throw new ImportError(
          'UNREADABLE',
          `Cannot import past ${bytesMax} bytes: the ${packing.name} source must not unpack to more than that`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new ImportError(
      'UNREADABLE',
      `Cannot import past ${bytes} unpacked bytes: the ${packing.name} source must be whole: ${(error as Error).message}`,
    );
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

/** The first bytes, and whether more may follow: a short source has fewer. */
async function readHead(input: AsyncIterator<Buffer>): Promise<[Buffer, boolean]> {
  let head = Buffer.alloc(0);
  while (head.length < magicBytes) {
    const next = await input.next();
    if (next.done === true) return [head, false];
    head = Buffer.concat([head, next.value]);
  }
  return [head, true];
}

async function* joined(head: Buffer, more: boolean, input: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  while (more) {
    const next = await input.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/** Errors of the unpacking itself, as against those of the source. */
function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (code.startsWith('Z_') || code.startsWith('ZSTD_'));
}
