import { shorten } from '../contract/shorten.ts';

/** A fault in one field of a row. */
export interface RowFault {
  /** Name of the field, `product.id` for one of the product; empty for the row as a whole. */
  readonly field: string;
  /** The value as JSON, shortened; `null` if there is none. */
  readonly value: string | null;
  /** The rule, with a valid example. */
  readonly rule: string;
}

/** One row of a source, valid or not. */
export interface SourceRow {
  /** Line of the source on which the row begins, from 1. */
  readonly line: number;
  /** Decompressed bytes of the source up to the end of the row. */
  readonly end: number;
  /** The row as it appears in the source. */
  readonly raw: string;
  /** The row's value, or why it could not be read. */
  readonly content: { readonly value: unknown } | { readonly faults: readonly RowFault[] };
}

/**
 * Longest row that is read, in bytes. The longest valid record has 14,200 if each of its characters
 * is escaped; a typical one has 450.
 */
export const rowBytesMax = 16_384;

/** Maximum characters of a name or value shown in a fault. */
export const shownMax = 80;

/** A value as shown in a fault: the beginning of its JSON. */
export const shownValue = (value: unknown): string | null =>
  value === undefined ? null : shorten(JSON.stringify(value) ?? String(value), shownMax);
