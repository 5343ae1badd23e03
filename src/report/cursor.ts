import { fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import type { OrderKey } from '../storage/order-key.ts';

/** A position in a report as `X-Next-Page` and `X-Previous-Page` carry it. */
export interface Cursor {
  /** The page lies just after the key, or just before it. */
  readonly direction: 'after' | 'before';
  readonly key: OrderKey;
  /** Number of the page that the cursor leads to. */
  readonly page: number;
  /** `fingerprint` of the query that the cursor belongs to. */
  readonly query: string;
  /**
   * The moment that `expires-within` counts from, in UTC epoch seconds, where the query has it: all
   * pages of a walk ask for one span.
   */
  readonly nowSeconds?: number;
}

const version = 1;

/** Far enough for any clock, and near enough that a length of time can be added. */
const latestSeconds = 250_000_000_000;

/** Writes a cursor as opaque URL-safe text. */
export function encodeCursor({ direction, key, page, query, nowSeconds }: Cursor): string {
  const fields = [version, direction === 'after' ? 1 : 0, key.date, key.id, page, query];
  if (nowSeconds !== undefined) fields.push(nowSeconds);
  return encodeFields(fields);
}

/** Reads a cursor that `encodeCursor` wrote, or gives `undefined` for any other text. */
export function decodeCursor(text: string): Cursor | undefined {
  const fields = decodeFields(text);
  if (fields.length < 6 || fields.length > 7 || fields[0] !== version) return undefined;
  const [, forward, date, id, page, query, nowSeconds = 0] = fields;
  if ((forward !== 0 && forward !== 1) || !isWhole(date) || !isWhole(page) || page < 0) return undefined;
  if (!isWhole(nowSeconds) || nowSeconds < 0 || nowSeconds > latestSeconds) return undefined;
  if (typeof id !== 'string' || !fitsText(SubscriptionId, id) || typeof query !== 'string') return undefined;
  const direction = forward === 1 ? 'after' : 'before';
  const cursor: Cursor = { direction, key: { date, id }, page, query, ...(fields.length === 7 && { nowSeconds }) };
  return encodeCursor(cursor) === text ? cursor : undefined; // one text for one cursor
}

/** Writes some values as opaque URL-safe text. */
export const encodeFields = (fields: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(fields)).toString('base64url');

/**
 * The values of a text that `encodeFields` wrote; none, or whatever they may be, of a text that it
 * did not write.
 */
export function decodeFields(text: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(fields) ? fields : [];
  } catch {
    return []; // not JSON: not ours, which the caller reports
  }
}

/** Whether a value is a whole number that is held exactly. */
export const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/**
 * A short mark of a text (FNV-1a, 32 bit): tells queries apart by accident, not by intent, which
 * the filters themselves guard against.
 */
export function fingerprintOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
