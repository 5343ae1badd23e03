import { dayOf } from '../../../contract/relative-day.ts';
import { instantAt, startOfDay } from '../zone/day-bounds.ts';
import { localDay } from '../zone/local-days.ts';

const dayMs = 86_400_000;

/** Days of the periods that are offered, by their name in the address. */
export const periods: Readonly<Record<string, number>> = { '1d': 1, '7d': 7, '30d': 30 };

/** The begin of the changes that are listed: the last visit, or an instant. */
export type Since =
  | { readonly kind: 'visit' }
  | { readonly kind: 'days'; readonly days: number; readonly instant: string }
  /** The begin of a day, `2026-11-01`. */
  | { readonly kind: 'day'; readonly day: string; readonly instant: string };

/** Reads `since` of the address; what is no period and no day until today is the last visit. */
export function readSince(text: string, now: Date): Since {
  const days = Object.hasOwn(periods, text) ? periods[text] : undefined;
  if (days !== undefined) return { kind: 'days', days, instant: instantAt(now.getTime() - days * dayMs) };
  return isPastDay(text, now) ? { kind: 'day', day: text, instant: startOfDay(text) } : { kind: 'visit' };
}

/** Whether a text is a day, `2026-11-01`, that has begun. */
export function isPastDay(text: string, now: Date): boolean {
  const today = localDay(now.getTime());
  return dayOf(text, today) === text && text <= today;
}
