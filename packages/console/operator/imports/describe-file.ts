/** How a file is sent. */
export interface FileKind {
  readonly format: 'ndjson' | 'csv';
  readonly encoding: 'gzip' | 'zstd' | undefined;
}

/** Bytes that tell the format of a file. */
export const startBytes = 512;

/** The media type of each format. */
export const mediaTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

const gzipMagic = [0x1f, 0x8b];
const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];
const compressed = /\.(gz|zst)$/i;

/**
 * Recognizes the format of a file by its name, or by its first bytes. `undefined` for a compressed
 * file whose name does not say what is in it.
 */
export function describeFile(name: string, start: Uint8Array): FileKind | undefined {
  const encoding = encodingOf(start);
  const inner = name.replace(compressed, '').toLowerCase();
  if (inner.endsWith('.csv')) return { format: 'csv', encoding };
  if (/\.(ndjson|jsonl)$/.test(inner)) return { format: 'ndjson', encoding };
  if (encoding !== undefined) return undefined;
  return { format: /^\s*[{[]/.test(new TextDecoder().decode(start)) ? 'ndjson' : 'csv', encoding };
}

function encodingOf(start: Uint8Array): FileKind['encoding'] {
  const begins = (magic: readonly number[]) => magic.every((byte, index) => start[index] === byte);
  if (begins(gzipMagic)) return 'gzip';
  return begins(zstdMagic) ? 'zstd' : undefined;
}
