/** A look of a mark (marks.tsx): five are those of a status, `other` is that of a sum. */
export type Tone = 'active' | 'pending' | 'depleted' | 'expired' | 'unknown' | 'accent' | 'other';

/** A part of each column. */
export interface Series {
  readonly label: string;
  readonly tone: Tone;
  /** The number in the legend: all columns together. */
  readonly total: number;
  /** Lists the counted subscriptions, if a filter selects them. */
  readonly href?: string | undefined;
}

/** What a bar of any chart has. */
interface BarData {
  readonly key: string;
  /** The whole text of the bar: "March 2026: 112 created, 80 active". */
  readonly text: string;
  /** Lists the counted subscriptions, if a filter selects them. */
  readonly href?: string | undefined;
}

/** A column on a time axis. */
export interface Column extends BarData {
  /** In the table: "March 2026". */
  readonly name: string;
  /** On the axis, short. */
  readonly label: string;
  /** One per series. */
  readonly values: readonly number[];
  /** Its period is not over, or has begun before what is counted. */
  readonly isUnfinished: boolean;
}

/** A horizontal bar. */
export interface Category extends BarData {
  readonly label: string;
  readonly value: number;
  /** The part of all categories, from 0 to 1. */
  readonly share: number;
  readonly tone: Tone;
}

/** At most `max` entries: the largest ones, and one that contains all others if there are more. */
export function topAndOther<Entry extends { readonly count: number }>(
  entries: readonly Entry[],
  max: number,
  other: (rest: readonly Entry[], count: number) => Entry,
): Entry[] {
  const sorted = entries.toSorted((a, b) => b.count - a.count);
  if (sorted.length <= max) return sorted;
  const rest = sorted.slice(max - 1);
  return [...sorted.slice(0, max - 1), other(rest, sumOf(rest.map(({ count }) => count)))];
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
