import { hash } from 'node:crypto';
import { BoundedMap } from '../../storage/bounded-map.ts';

/** A cached response: its bytes, and the headers that describe them. */
export interface CachedPage {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision when it was read. */
  readonly revision: number;
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
export function createPageCache(bytesMax: number) {
  const pages = new BoundedMap<CachedPage>({
    name: 'responses',
    bytesMax,
    entryBytesMax: bytesMax / largestShare,
  });
  return {
    get: (key: string) => pages.get(key),
    set: (key: string, page: CachedPage) => void pages.set(key, { ...page, body: ownBytes(page.body) }),
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

/**
 * Returns a strong entity tag (RFC 9110 §8.8.3) of everything that a response depends on, the
 * tenant's revision and the cache key: equal ones mean equal bytes.
 */
export function entityTag(revision: number, cacheKey: string): string {
  return `"${hash('sha256', `${revision} ${cacheKey}`, 'base64url').slice(0, 27)}"`;
}

/** Returns the tag of the same response in a content coding: other bytes, so another strong tag. */
export function codedTag(tag: string, coding: string): string {
  return `${tag.slice(0, -1)}-${coding}"`;
}

/** Whether `If-None-Match` is `*`, which matches any response (RFC 9110 §13.1.2). */
export const matchesAny = (header: string | undefined): boolean => header?.trim() === '*';

/**
 * Whether `If-None-Match` contains a tag, in any content coding (RFC 9110 §13.1.2: weak
 * comparison).
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const plain = tag.slice(1, -1);
  return [...header.matchAll(/(?:W\/)?"([^"]*)"/g)].some(
    ([, given = '']) =>
      given === plain || (given.startsWith(`${plain}-`) && /^-(zstd|br|gzip)$/.test(given.slice(plain.length))),
  );
}
