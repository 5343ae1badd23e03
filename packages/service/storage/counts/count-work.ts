import { compareOrderKeys } from '../order-key.ts';
import type { Row, SqlValue, TenantSql, TenantWriteSql } from '../store.ts';
import type { SeriesKey } from './counted-row.ts';
import type { Span } from './span.ts';

/**
 * A request to the engine, about one tenant.
 * - `locate`: the spans of every level that hold one of the keys, each once, and possibly others.
 *   The keys are sorted by `compareSeriesKeys`. Returns nothing for a series without spans.
 * - `run`: the rows of a statement written for both engines; `$1` is the tenant.
 * - `write`: spans to insert or replace, and spans to remove.
 */
export type CountRequest =
  | { readonly kind: 'locate'; readonly keys: readonly SeriesKey[] }
  | { readonly kind: 'run'; readonly sql: TenantSql | TenantWriteSql; readonly values: readonly BoundValue[] }
  | { readonly kind: 'write'; readonly put: readonly Span[]; readonly remove: readonly Span[] };

/**
 * Counting in steps: each yields requests that are sent together, and receives the rows of each. A
 * generator, because PostgreSQL responds asynchronously and SQLite's write transaction must not be
 * interrupted.
 */
export type CountWork<T = void> = Generator<readonly CountRequest[], T, readonly (readonly Row[])[]>;

/** A value of a statement; `any($2::text[])` takes a list. */
type BoundValue = SqlValue | readonly string[];

/** Requests the rows of a statement. */
export const ask = (sql: TenantSql | TenantWriteSql, ...values: readonly BoundValue[]): CountRequest => ({
  kind: 'run',
  sql,
  values,
});

/** Sorts by series, then by order key. */
export function compareSeriesKeys(a: SeriesKey, b: SeriesKey): number {
  if (a.series !== b.series) return a.series < b.series ? -1 : 1;
  return compareOrderKeys(a.orderKey, b.orderKey);
}

/** The spans that a change writes and removes; the last call for a span wins. */
export class SpanEdit {
  readonly #put = new Map<string, Span>();
  readonly #remove = new Map<string, Span>();

  put(span: Span): void {
    this.#put.set(idOf(span), span);
    this.#remove.delete(idOf(span));
  }

  remove(span: Span): void {
    this.#remove.set(idOf(span), span);
    this.#put.delete(idOf(span));
  }

  toRequest(): CountRequest {
    return { kind: 'write', put: [...this.#put.values()], remove: [...this.#remove.values()] };
  }
}

const idOf = ({ series, level, from }: Span): string => `${level} ${from.date} ${from.id} ${series}`;
