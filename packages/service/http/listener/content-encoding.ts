import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

/** The content codings of responses (RFC 9110 §8.4.1, RFC 8878), best first. */
export const contentCodings = ['zstd', 'br', 'gzip'] as const;
export type ContentCoding = (typeof contentCodings)[number];

/** Minimum size of a compressed body in bytes: a smaller one fits into one packet anyway. */
export const compressBytesMin = 1_024;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const deflate = promisify(gzip);

/** Compresses a body off the event loop, at levels that take about a millisecond per page. */
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

/**
 * Returns the coding that `Accept-Encoding` prefers (RFC 9110 §12.5.3): the highest weight, then
 * our order; `undefined` for no coding.
 */
export function preferredCoding(
  header: string | undefined,
  codings: readonly ContentCoding[] = contentCodings,
): ContentCoding | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(
      parameters.find((each) => each.startsWith('q=')) ?? 'q=1',
    )?.[1];
    // a coding without a valid weight is ignored
    if (name !== '' && weight !== undefined) weights.set(name, Number(weight));
  }
  let best: ContentCoding | undefined;
  let bestWeight = 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  return (weights.get('identity') ?? 0) > bestWeight ? undefined : best;
}
