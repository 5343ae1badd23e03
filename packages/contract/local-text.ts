import { formatInstant, isWithinYears, parseInstant } from './instant.ts';
import type { Zone } from './zone.ts';

/**
 * Formats UTC epoch seconds as local time with its offset. An offset that has seconds, as before
 * 1972, is rounded to the minute, so that the instant is exact; a time whose local year is not in 1
 * to 9999 stays in UTC.
 *
 * @example
 * formatInstantIn(findZone('Europe/Berlin'), 1714550400) // '2024-05-01T10:00:00+02:00'
 */
export function formatInstantIn(zone: Zone, seconds: number): string {
  const offset = minuteOffset(zone.offsetAt(seconds));
  const local = seconds + offset;
  return isWithinYears(local) ? `${formatInstant(local).slice(0, -1)}${formatOffset(offset)}` : formatInstant(seconds);
}

/** The date of a record in local time, as `formatInstantIn`; anything else is unchanged. */
export function localText(zone: Zone, text: string): string {
  const instant = parseInstant(text);
  return instant === undefined ? text : formatInstantIn(zone, instant.seconds);
}

/** An offset in seconds, rounded to the minute. */
const minuteOffset = (offset: number): number => Math.round(offset / 60) * 60;

/** Formats an offset in seconds, which are whole minutes: `+02:00`. */
function formatOffset(offset: number): string {
  const minutes = Math.abs(offset) / 60;
  const digits = [Math.floor(minutes / 60), minutes % 60].map((number) => String(number).padStart(2, '0'));
  return `${offset < 0 ? '-' : '+'}${digits.join(':')}`;
}
