import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

/** The codings that answers can have (RFC 9110 §8.4.1, RFC 8878), best first. */
export const contentCodings = ['zstd', 'br', 'gzip'] as const;
export type ContentCoding = (typeof contentCodings)[number];

/** Least size of a body that is worth compressing, in bytes: below it a packet is not full either way. */
export const compressBytesMin = 1_024;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const deflate = promisify(gzip);

/** Compresses a body, off the event loop, at the levels at which a page takes about a millisecond. */
export function compress(coding: ContentCoding, body: Buffer): Promise<Buffer> {
  switch (coding) {
    case 'zstd':
      return zstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
    case 'br':
      return brotli(body, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      });
    case 'gzip':
      return deflate(body, { level: 6 });
  }
}
