import { compareKeys, type OrderKey } from '../order-key.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import type { Span } from './span.ts';

/** A place in a series. */
export interface SeriesKey {
  readonly series: string;
  readonly key: OrderKey;
}

/**
 * What counting asks the store for, of one tenant.
 * - `locate`: spans of every level, each once, among them all that hold one of the keys, which are
 *   sorted by `compareSeriesKeys`; nothing of a series that has no spans.
 * - `read`: the rows of a statement written for both engines; `$1` is the tenant.
 * - `write`: spans to keep in place of what was at their series, level and key, and spans to
 *   remove.
 */
export type CountRequest =
  | { readonly kind: 'locate'; readonly keys: readonly SeriesKey[] }
  | { readonly kind: 'read'; readonly sql: TenantSql; readonly values: readonly SqlValue[] }
  | { readonly kind: 'write'; readonly put: readonly Span[]; readonly remove: readonly Span[] };

/**
 * Counting in steps: each asks for some things at once and goes on with the rows of each. A
 * generator, so that one text serves PostgreSQL, which is waited for, and SQLite, whose writing
 * transaction nothing may interrupt.
 */
export type CountWork<T = void> = Generator<readonly CountRequest[], T, readonly (readonly Row[])[]>;

/** Compares places by their series, then by key. */
export function compareSeriesKeys(a: SeriesKey, b: SeriesKey): number {
  if (a.series !== b.series) return a.series < b.series ? -1 : 1;
  return compareKeys(a.key, b.key);
}
