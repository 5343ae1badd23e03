/** A look of a mark (marks.tsx): five are those of a status. */
export type Tone = 'active' | 'pending' | 'depleted' | 'expired' | 'unknown' | 'accent';

/** A part of each column. */
export interface Series {
  readonly label: string;
  readonly tone: Tone;
  /** The number in the legend: all columns together. */
  readonly total: number;
  /** Lists the counted subscriptions, if a filter selects them. */
  readonly href?: string | undefined;
}

/** A column on a time axis. */
export interface Column {
  readonly key: string;
  /** Its whole text: "March 2026: 112 created, 80 active". */
  readonly text: string;
  /** Lists the counted subscriptions. */
  readonly href: string;
  /** In the table: "March 2026". */
  readonly name: string;
  /** On the axis, short. */
  readonly label: string;
  /** One per series. */
  readonly values: readonly number[];
  /** Its period is not over, or has begun before what is counted. */
  readonly isUnfinished: boolean;
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
