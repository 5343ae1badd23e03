import { daysUntil } from '../zone/day-bounds.ts';
import { wordStrings } from './word-strings.ts';

const text = wordStrings.end;

/** Days ahead within which an end is counted in days. */
const countedDays = 60;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * An end within a day of now, or within 60 days after it, in words: `in 3 h`, `2 h ago`,
 * `in 3 days`; `undefined` for any other.
 */
export function describeEnd(expirationDate: string, now: number): string | undefined {
  const leftMs = Date.parse(expirationDate) - now;
  if (Math.abs(leftMs) < dayMs) {
    const time = describeTime(Math.abs(leftMs));
    return leftMs > 0 ? text.in(time) : text.ago(time);
  }
  const days = daysUntil(expirationDate, now);
  if (days < 0 || days > countedDays) return undefined;
  return days === 1 ? 'tomorrow' : text.inDays(days);
}

/** Whole hours, or minutes below an hour: at least one. */
const describeTime = (ms: number): string =>
  ms < hourMs ? text.minutes(Math.max(1, Math.floor(ms / 60_000))) : text.hours(Math.floor(ms / hourMs));
