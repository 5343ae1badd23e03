import type { Row, Store } from './store.ts';

// A column of text that a tenant's statement returns as UTF-8 bytes. A page is sent as the store
// has it, so decoding it, and encoding it again, would only cost time.

/** The name of the column. */
export const utf8Column = 'utf8_bytes';

/** Selects an expression of text as the column. */
export const selectUtf8 = (engine: Store['engine'], text: string): string =>
  `${engine === 'sqlite' ? `cast(${text} as blob)` : text} as ${utf8Column}`;

/** The bytes of the column; they may be a part of a larger buffer, which they keep in memory. */
export function utf8Of(row: Row): Buffer {
  const bytes: unknown = row[utf8Column]; // the only value of a row that is not an `SqlValue`
  return bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : noBytes;
}

const noBytes = Buffer.alloc(0);
