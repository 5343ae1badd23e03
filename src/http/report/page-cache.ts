import { BoundedMap } from '../../storage/bounded-map.ts';

/** A finished answer: bytes to send, and the headers that describe them. */
export interface FinishedPage {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision that it was read at. */
  readonly revision: number;
}

/** Finished pages by key, as many as fit; those used longest ago make room. */
interface PageCache {
  get(key: string): FinishedPage | undefined;
  set(key: string, page: FinishedPage): void;
}

/** One page takes at most this part of all: a large one must not push everything else out. */
const largestShare = 8;

/**
 * Makes a cache of at most `bytesMax`, keys and headers counted; 0 keeps nothing. The key must name
 * everything that the page depends on but the revision, which the caller compares: so a newer page
 * takes the place of the older one.
 */
export function createPageCache(bytesMax: number): PageCache {
  const pages = new BoundedMap<FinishedPage>({
    entriesMax: Number.POSITIVE_INFINITY,
    bytesMax,
    entryBytesMax: bytesMax / largestShare,
  });
  return {
    get: (key) => pages.get(key),
    set: (key, page) => void pages.set(key, { ...page, body: ownBytes(page.body) }),
  };
}

/**
 * A body in memory of its own: a short one is part of a pool of 8 KiB, and a compressed one of the
 * compressor's 16 KiB, which it would keep alive.
 */
function ownBytes(body: Buffer): Buffer {
  if (body.byteLength === body.buffer.byteLength) return body;
  const own = Buffer.allocUnsafeSlow(body.byteLength);
  body.copy(own);
  return own;
}
