import { Readable } from 'node:stream';
import {
  constants,
  createGunzip,
  createZstdDecompress,
  type Gunzip,
  type ZstdDecompress,
  zstdCompressSync,
} from 'node:zlib';
import { ImportError } from './error.ts';
import { readHead } from './source-head.ts';

/** A compression format, recognised by its first bytes (RFC 1952 §2.3.1, RFC 8878 §3.1.1). */
interface Compression {
  readonly name: string;
  readonly magic: Buffer;
  /** `windowLogMax` is the binary logarithm of the bytes; the window of gzip has 32 KiB. */
  readonly create: (windowLogMax: number) => Gunzip | ZstdDecompress;
  /**
   * A frame appended to the source, and the content that must come out last if the source was
   * complete.
   */
  readonly seal: { readonly content: Buffer; readonly frame: Buffer };
}

const nothing = Buffer.alloc(0);
/** Bytes of decompressed chunks: with the default of 16 KiB, unpacking takes half as much again. */
const chunkSize = 65_536;

/**
 * Node's zstd decompressor silently drops up to three last bytes. The source was complete if all
 * bytes were consumed and the content of our frame came out last. The frame needs its checksum: a
 * truncated block that takes the frame for its own content then ends with other bytes. gzip needs
 * no such frame.
 */
const zstdSeal = Buffer.from('\u0000end of the source\u0000');

const compressions: readonly Compression[] = [
  {
    name: 'gzip',
    magic: Buffer.from([0x1f, 0x8b]),
    create: () => createGunzip({ chunkSize }),
    seal: { content: nothing, frame: nothing },
  },
  {
    name: 'zstd',
    magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
    create: (windowLogMax) =>
      createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: windowLogMax } }),
    seal: {
      content: zstdSeal,
      frame: zstdCompressSync(zstdSeal, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    },
  },
];
const magicBytes = 4;

/** Limits of a compressed source. */
export interface DecompressionLimits {
  /** Decompressed bytes: a small source can expand without limit. */
  readonly bytesMax: number;
  /** Bytes of the window of zstd, a power of two: the decompressor allocates as many. */
  readonly windowBytesMax: number;
}

/** The window of every level of zstd up to 22, without `--long`. */
export const fileWindowBytesMax = 134_217_728;
/** The largest window of zstd over HTTP (RFC 9659 §3): that of every level up to 19. */
export const httpWindowBytesMax = 8_388_608;

/**
 * Decompresses a source that is gzip or zstd, whatever its name, and returns any other source
 * unchanged. Throws `ImportError` if the source is truncated or damaged, if other bytes follow it,
 * or if it exceeds a limit.
 */
export async function* decompress(source: AsyncIterable<Buffer>, limits: DecompressionLimits): AsyncGenerator<Buffer> {
  const { head, whole } = await readHead(source, ({ length }) => length >= magicBytes);
  yield* unpackFrom(head, whole, limits);
}

async function* unpackFrom(
  head: Buffer,
  whole: AsyncIterable<Buffer>,
  { bytesMax, windowBytesMax }: DecompressionLimits,
): AsyncGenerator<Buffer> {
  const compression = compressions.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
  if (compression === undefined) {
    yield* whole;
    return;
  }
  let bytes = 0;
  try {
    for await (const chunk of decompressSealed(compression, whole, Math.log2(windowBytesMax))) {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        throw new ImportError(
          'UNREADABLE',
          `Cannot import past ${bytesMax} bytes: the ${compression.name} source must not decompress to more than that`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    if ((error as { code?: unknown }).code === 'ZSTD_error_frameParameter_windowTooLarge') {
      throw new ImportError(
        'UNREADABLE',
        `Cannot import past ${bytes} decompressed bytes: the window of the zstd source must have at most ${windowBytesMax} bytes: compress it with a lower level, and without --long`,
      );
    }
    throw new ImportError(
      'UNREADABLE',
      `Cannot import past ${bytes} decompressed bytes: the ${compression.name} source must be complete: ${(error as Error).message}`,
    );
  }
}

/**
 * Decompresses a source with the seal appended and removes the seal's content; throws an error of
 * zlib if not all bytes were consumed.
 */
async function* decompressSealed(
  { create, seal }: Compression,
  source: AsyncIterable<Buffer>,
  windowLogMax: number,
): AsyncGenerator<Buffer> {
  let fed = 0;
  const decompressed = create(windowLogMax);
  const compressed = Readable.from(
    (async function* () {
      for await (const chunk of source) {
        fed += chunk.length;
        yield chunk;
      }
      fed += seal.frame.length;
      yield seal.frame;
    })(),
  );
  compressed.on('error', (error) => decompressed.destroy(error));
  compressed.pipe(decompressed);
  let last: Buffer = nothing;
  try {
    for await (const chunk of decompressed as AsyncIterable<Buffer>) {
      const bytes = last.length === 0 ? chunk : Buffer.concat([last, chunk]);
      const end = Math.max(0, bytes.length - seal.content.length);
      last = bytes.subarray(end);
      if (end > 0) yield bytes.subarray(0, end);
    }
    if (!last.equals(seal.content) || decompressed.bytesWritten !== fed)
      throw Object.assign(new Error('it is followed by other bytes'), { code: 'Z_DATA_ERROR' });
  } finally {
    compressed.destroy();
    decompressed.destroy();
  }
}

/** Whether an error comes from decompression rather than from the source. */
function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (code.startsWith('Z_') || code.startsWith('ZSTD_'));
}
