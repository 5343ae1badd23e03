import { hash } from 'node:crypto';

/**
 * A strong entity tag (RFC 9110 §8.8.3) of everything that an answer depends on: equal parts, equal
 * bytes.
 */
export function entityTag(parts: readonly unknown[]): string {
  return `"${hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

/** The tag of the same answer in a content coding: other bytes, so another strong tag. */
export function codedTag(tag: string, coding: string): string {
  return `${tag.slice(0, -1)}-${coding}"`;
}

/** Whether an `If-None-Match` header names any answer there is (RFC 9110 §13.1.2). */
export const matchesAny = (header: string | undefined): boolean => header?.trim() === '*';

/**
 * Whether an `If-None-Match` header names a tag, in whichever coding the client has it (RFC 9110
 * §13.1.2: compared weakly).
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const plain = tag.slice(1, -1);
  return [...header.matchAll(/(?:W\/)?"([^"]*)"/g)].some(
    ([, given = '']) =>
      given === plain || (given.startsWith(`${plain}-`) && /^-(zstd|br|gzip)$/.test(given.slice(plain.length))),
  );
}
