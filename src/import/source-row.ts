import { shorten } from '../contract/shorten.ts';

/** What is wrong with one field of a row. */
export interface RowFault {
  /** Name of the field, `product.id` for one of the product; empty for the row as a whole. */
  readonly field: string;
  /** The value as JSON text, shortened; `null` when there is none. */
  readonly value: string | null;
  /** What must hold, with a right example. */
  readonly rule: string;
}

/** One row of a source, as far as its reader could read it. */
export interface SourceRow {
  /** Line of the source on which the row begins, from 1. */
  readonly line: number;
  /** Unpacked bytes of the source up to the end of the row. */
  readonly end: number;
  /** The row as it stands in the source. */
  readonly raw: string;
  /** The row as a value, or what kept the reader from reading it. */
  readonly content: { readonly value: unknown } | { readonly faults: readonly RowFault[] };
}

/** Longest row that is read, in bytes; a record is a thousandth of it. */
export const rowBytesMax = 1_048_576;

/** Characters of a row's name or value that a fault shows. */
export const shownMax = 80;

/** A value as a fault shows it: the beginning of its JSON text. */
export const shownValue = (value: unknown): string | null =>
  value === undefined ? null : shorten(JSON.stringify(value) ?? String(value), shownMax);
