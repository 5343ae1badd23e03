import { dayOf } from '../../../contract/relative-day.ts';
import { instantAt, startOfDay } from '../zone/day-bounds.ts';
import { localDay } from '../zone/local-days.ts';

const dayMs = 86_400_000;

/** Days of the periods that are offered, by their name in the address. */
export const periods: Readonly<Record<string, number>> = { '1d': 1, '7d': 7, '30d': 30 };

interface DaysBefore {
  readonly kind: 'days';
  readonly days: number;
  readonly instant: string;
}

/** The begin of the changes that are listed: the last visit, or an instant. */
export type Since =
  | { readonly kind: 'visit' }
  | DaysBefore
  /** The begin of a day, `2026-11-01`. */
  | { readonly kind: 'day'; readonly day: string; readonly instant: string };

/** The period before a past time, which has no last visit. */
export const pastDefault = '7d';

export const readPastDefault = (now: Date): DaysBefore => daysBefore(now, periods[pastDefault] ?? 0);

function daysBefore(now: Date, days: number): DaysBefore {
  return { kind: 'days', days, instant: instantAt(now.getTime() - days * dayMs) };
}

/** Reads `since` of the address; what is no period and no day until today is the last visit. */
export function readSince(text: string, now: Date): Since {
  const days = Object.hasOwn(periods, text) ? periods[text] : undefined;
  if (days !== undefined) return daysBefore(now, days);
  return isPastDay(text, now) ? { kind: 'day', day: text, instant: startOfDay(text) } : { kind: 'visit' };
}

/** Whether a text is a day, `2026-11-01`, that has begun. */
export function isPastDay(text: string, now: Date): boolean {
  const today = localDay(now.getTime());
  return dayOf(text, today) === text && text <= today;
}
