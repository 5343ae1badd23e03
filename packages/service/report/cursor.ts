import { fitsText } from '../../contract/schema.ts';
import { SubscriptionId } from '../../contract/subscription.ts';
import type { OrderKey } from '../storage/order-key.ts';

/** A position in a report, as in `X-Next-Page` and `X-Previous-Page`. */
export interface Cursor {
  /** Whether the page comes after the key or before it. */
  readonly direction: 'after' | 'before';
  readonly key: OrderKey;
  readonly page: number;
  /** `fingerprintOf` the query that the cursor belongs to. */
  readonly query: string;
  /**
   * Start of the `expires-within` range in UTC epoch seconds, if the query has one: all pages of a
   * report use the same range.
   */
  readonly nowSeconds?: number;
}

const version = 1;

/** About the year 9892; adding a duration cannot leave the range of dates. */
const latestSeconds = 250_000_000_000;

export function encodeCursor({ direction, key, page, query, nowSeconds }: Cursor): string {
  const fields = [version, direction === 'after' ? 1 : 0, key.date, key.id, page, query];
  if (nowSeconds !== undefined) fields.push(nowSeconds);
  return encodeFields(fields);
}

/** Decodes a cursor of `encodeCursor`; returns `undefined` for any other string. */
export function decodeCursor(text: string): Cursor | undefined {
  const fields = decodeFields(text);
  if (fields.length < 6 || fields.length > 7 || fields[0] !== version) return undefined;
  const [, forward, date, id, page, query, nowSeconds = 0] = fields;
  if ((forward !== 0 && forward !== 1) || !isWhole(date) || !isWhole(page) || page < 0) return undefined;
  if (!isWhole(nowSeconds) || nowSeconds < 0 || nowSeconds > latestSeconds) return undefined;
  if (typeof id !== 'string' || !fitsText(SubscriptionId, id) || typeof query !== 'string') return undefined;
  const direction = forward === 1 ? 'after' : 'before';
  const cursor: Cursor = { direction, key: { date, id }, page, query, ...(fields.length === 7 && { nowSeconds }) };
  return encodeCursor(cursor) === text ? cursor : undefined; // each cursor has one encoding
}

/** Encodes values as an opaque URL-safe string. */
export const encodeFields = (fields: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(fields)).toString('base64url');

/** Decodes values of `encodeFields`; returns any values, or none, for another string. */
export function decodeFields(text: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(fields) ? fields : [];
  } catch {
    return []; // not JSON: the caller reports it
  }
}

export const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/**
 * A 32-bit fingerprint of a string (FNV-1a). It detects mistakes, not attacks: the filters of the
 * query apply anyway.
 */
export function fingerprintOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
