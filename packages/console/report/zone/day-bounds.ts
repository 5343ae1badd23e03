import { formatInstant, parseInstant } from '../../../contract/instant.ts';
import { dayAfterDays, daysBetween, localDay, startMsOf } from './local-days.ts';

/** A time in milliseconds as the API writes it, in whole seconds. */
export const instantAt = (ms: number): string => formatInstant(Math.floor(ms / 1000));

/** `2026-03-01` as the instant at which the day begins. */
export const startOfDay = (day: string): string => instantAt(startMsOf(day));

/** The instant at which the following day begins. */
export const endOfDay = (day: string): string => startOfDay(dayAfterDays(day, 1));

/** The last second before a day: `after` excludes its own instant. */
export const beforeDay = (day: string): string => instantAt(startMsOf(day) - 1000);

/** Milliseconds since 1970 of an instant of the API, in any form: `Date` does not read all. */
export function millisecondsOf(instant: string): number {
  const { seconds, nanos } = parseInstant(instant) ?? { seconds: Number.NaN, nanos: 0 };
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}

/** The day that begins at a time in milliseconds, `2026-03-01`, or `undefined` if none does. */
function dayBeginningAt(ms: number): string | undefined {
  if (Number.isNaN(ms)) return undefined;
  const day = localDay(ms);
  return startMsOf(day) === ms ? day : undefined;
}

/** The day that begins at an instant, or `undefined`. */
export const dayFrom = (instant: string): string | undefined => dayBeginningAt(millisecondsOf(instant));

/** The last day before an instant at which a day begins, or `undefined`. */
export function dayUntil(instant: string): string | undefined {
  const day = dayFrom(instant);
  return day === undefined ? undefined : dayAfterDays(day, -1);
}

/** The day that begins one second after an instant, or `undefined`: the reverse of `beforeDay`. */
export const dayAfter = (instant: string): string | undefined => dayBeginningAt(millisecondsOf(instant) + 1000);

/** Calendar days from now until an instant: 0 is today, negative is in the past. */
export const daysUntil = (instant: string, now: number): number => daysBetween(now, Date.parse(instant));
