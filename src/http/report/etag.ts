import { hash } from 'node:crypto';

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
