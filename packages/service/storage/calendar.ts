/**
 * Days or months of local time. A start is in seconds since 1970, as on a clock in UTC, and names
 * its day or month.
 */
export interface Calendar {
  /** The start of the day or month that holds an instant in UTC epoch seconds. */
  readonly startOf: (seconds: number) => number;
  /** The first instant after another one that is in a different day or month. */
  readonly endOf: (seconds: number) => number;
  /** The offsets by which statements group instants. */
  readonly offsets: () => KnownOffsets;
}

/** Instants until which an offset applies, in order; the last one applies to all later instants. */
type Offsets = readonly { readonly until: number; readonly offset: number }[];

/** The offsets of local time from one instant until before another one. */
export interface KnownOffsets {
  readonly from: number;
  readonly until: number;
  readonly offsets: Offsets;
}

/** More than the seconds between the year 1 and 1970: integer division then rounds down. */
const positive = 1_000_000 * 86_400;

/** No day has such a number. */
const singleSeconds = 1_000_000_000_000;

/**
 * SQL of a number that all instants of a local day have in common, and no other ones. Where the
 * offsets are not known, each second has a number of its own.
 */
export function dayNumber(column: string, { from, until, offsets }: KnownOffsets): string {
  const day = `(${column} + ${offsetOf(column, offsets)} + ${positive}) / 86400`;
  const outside = [
    ...(Number.isFinite(from) ? [`${column} < ${from}`] : []),
    ...(Number.isFinite(until) ? [`${column} >= ${until}`] : []),
  ].join(' or ');
  return outside === '' ? `(${day})` : `(case when ${outside} then ${column} + ${singleSeconds} else ${day} end)`;
}

/** SQL of the offset of an instant: a binary search. */
function offsetOf(column: string, offsets: Offsets): string {
  const middle = Math.floor((offsets.length - 1) / 2);
  const [last] = offsets;
  if (last === undefined || offsets.length === 1) return String(last?.offset ?? 0);
  const [earlier, later] = [offsets.slice(0, middle + 1), offsets.slice(middle + 1)];
  return `case when ${column} < ${earlier.at(-1)?.until} then ${offsetOf(column, earlier)} else ${offsetOf(column, later)} end`;
}

/** SQL of the number of a day, for days that begin `secondsOfDay` after midnight in UTC. */
export const dayNumberFrom = (column: string, secondsOfDay: string): string =>
  `((${column} - ${secondsOfDay} + ${positive}) / 86400)`;
