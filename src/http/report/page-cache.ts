import { BoundedMap } from '../../storage/bounded-map.ts';

/** A cached response: its bytes, and the headers that describe them. */
export interface CachedPage {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision when it was read. */
  readonly revision: number;
}

/** Cached pages by key, within a size limit; the least recently used ones are evicted. */
interface PageCache {
  get(key: string): CachedPage | undefined;
  set(key: string, page: CachedPage): void;
}

/**
 * A page may take at most this fraction of the cache, so that a large one does not evict all
 * others.
 */
const largestShare = 8;

/**
 * Creates a cache of at most `bytesMax`, including keys and headers; 0 disables it. The cache key
 * must name everything that the page depends on except the revision, which the caller compares, so
 * that a newer page replaces the older one.
 */
export function createPageCache(bytesMax: number): PageCache {
  if (bytesMax === 0) return { get: () => undefined, set: () => undefined };
  const pages = new BoundedMap<CachedPage>({
    name: 'responses',
    bytesMax,
    entryBytesMax: bytesMax / largestShare,
  });
  return {
    get: (key) => pages.get(key),
    set: (key, page) => void pages.set(key, { ...page, body: ownBytes(page.body) }),
  };
}

/**
 * Copies a body that shares its memory: a short one is part of a pool of 8 KiB, and a compressed
 * one of the compressor's 16 KiB, which it would keep alive.
 */
function ownBytes(body: Buffer): Buffer {
  if (body.byteLength === body.buffer.byteLength) return body;
  const own = Buffer.allocUnsafeSlow(body.byteLength);
  body.copy(own);
  return own;
}
