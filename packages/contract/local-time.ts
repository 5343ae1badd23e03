import { type Instant, isWithinYears, parseInstant } from './instant.ts';
import type { Zone } from './zone.ts';

/** A date, or a date and a time, without an offset. */
const localPattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:\.\d{1,9})?))?)?$/i;

/**
 * Parses a date-time as `parseInstant`, or with a zone also one without an offset: a date is the
 * start of its day, a time that occurs twice is the first one, and a time that is skipped is the
 * instant after the gap. Returns `undefined` for anything else.
 *
 * @example
 * parseInstantIn('2024-05-01', findZone('Europe/Berlin')) // { seconds: 1714514400, nanos: 0 }
 */
export function parseInstantIn(text: string, zone: Zone | undefined): Instant | undefined {
  const match = zone && localPattern.exec(text);
  if (!match) return parseInstant(text);
  const [, date, time = '00:00', second = '00'] = match;
  const local = parseInstant(`${date}T${time}:${second}Z`);
  if (local === undefined) return undefined;
  const [first = 0] = crossings(zone, local.seconds);
  if (!isWithinYears(first)) return undefined;
  // the fraction of a time that is skipped is skipped as well
  const nanos = first + zone.offsetAt(first) === local.seconds ? local.nanos : 0;
  return { seconds: first, nanos };
}

const daySeconds = 86_400;

/** More than any offset from UTC, and any change of one. */
const widest = 26 * 3_600;

/**
 * The instants at which local time begins to be at or after a local time, or to be before it again,
 * in turn: one, or three around a change that sets the clock back across it. `local` and the
 * instants are in seconds since 1970, as on a clock in UTC.
 */
function crossings(zone: Zone, local: number): readonly number[] {
  const [from, to] = [local - widest, local + widest];
  const at = zone.changeBetween(from, to);
  const before = local - zone.offsetAt(from);
  if (at === undefined) return [before];
  const after = local - zone.offsetAt(to);
  const [isReached, isKept] = [before < at, after <= at];
  return [...(isReached ? [before] : []), ...(isReached === isKept ? [] : [at]), ...(isKept ? [] : [after])];
}

/** A unit of the calendar: the start of the one that holds a local time, and of the next one. */
export interface CalendarUnit {
  readonly startOf: (local: number) => number;
  readonly next: (start: number) => number;
}

/** The first instant after another one at which the local day or month is a different one. */
export function endOfUnit(zone: Zone, { startOf, next }: CalendarUnit, seconds: number): number {
  const start = startOf(seconds + zone.offsetAt(seconds));
  const later = [...crossings(zone, start), ...crossings(zone, next(start))].filter((at) => at > seconds);
  return Math.min(...later);
}

/** An offset, and the instant until which it applies; the last one has no end. */
interface OffsetUntil {
  readonly until: number;
  readonly offset: number;
}

/** The offsets of a zone from one instant to another one, in UTC epoch seconds. */
export function offsetsBetween(zone: Zone, from: number, to: number): readonly OffsetUntil[] {
  const offsets: OffsetUntil[] = [];
  for (let at = from; at <= to; at += 2 * daySeconds) {
    const until = zone.changeBetween(at, at + 2 * daySeconds);
    if (until !== undefined) offsets.push({ until, offset: zone.offsetAt(at) });
  }
  const end = offsets.at(-1)?.until ?? from;
  return [...offsets, { until: Number.POSITIVE_INFINITY, offset: zone.offsetAt(Math.max(end, to)) }];
}
