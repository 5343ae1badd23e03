import { parseDuration } from '../../contract/duration.ts';
import { formatInstant, parseInstant } from '../../contract/instant.ts';

const daySeconds = 86_400;
const dayNames: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/** What a date of the command line must be. */
export const dateRule =
  'a date such as 2024-05-01 or 2024-05-01T08:00:00Z, today, yesterday, tomorrow or now, a duration before now such as 7d, or after now such as +7d';

/**
 * Converts a date of the command line to an ISO 8601 date-time; `undefined` if it is not a date. A
 * date-time is returned unchanged. Days begin at midnight UTC.
 *
 * @example
 * // at 2026-05-10T12:30:00Z
 * readDate('7d', now)         // '2026-05-03T12:30:00Z', as '-7d'
 * readDate('+12h', now)       // '2026-05-11T00:30:00Z'
 * readDate('today', now)      // '2026-05-10T00:00:00Z'
 * readDate('2024-05-01', now) // '2024-05-01T00:00:00Z'
 */
export function readDate(text: string, nowSeconds: number): string | undefined {
  const seconds = secondsOf(text, nowSeconds);
  if (seconds !== undefined) return formatInstant(seconds);
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
  return parseInstant(instant) === undefined ? undefined : instant;
}

function secondsOf(text: string, nowSeconds: number): number | undefined {
  if (text === 'now') return nowSeconds;
  const days = Object.hasOwn(dayNames, text) ? dayNames[text] : undefined;
  if (days !== undefined) return nowSeconds - (nowSeconds % daySeconds) + days * daySeconds;
  const duration = parseDuration(text.replace(/^[+-]/, ''));
  if (duration === undefined) return undefined;
  return nowSeconds + (text.startsWith('+') ? duration : -duration);
}
