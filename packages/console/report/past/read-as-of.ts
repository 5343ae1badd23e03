import { formatInstant, parseInstant } from '../../../contract/instant.ts';
import { dayOf } from '../../../contract/relative-day.ts';
import { localDay, startMsOf } from '../zone/local-days.ts';

/** A past time that the address names. */
export interface PastTime {
  /** As in the address: `this-month`, `2026-10-31` or an instant. */
  readonly word: string;
  /** For the API. */
  readonly instant: string;
  readonly date: Date;
}

/** The begin of a day, or of the day that a word means; `undefined` for any other text. */
export function instantOfDay(text: string, now: Date): string | undefined {
  const day = dayOf(text, localDay(now.getTime()));
  return day === undefined ? undefined : formatInstant(startMsOf(day) / 1000);
}

/** Reads `as-of` of an address: a day, which is its begin, or an instant. */
export function readAsOf(word: string, now: Date): PastTime | undefined {
  const instant = instantOfDay(word, now) ?? word;
  const seconds = parseInstant(instant)?.seconds;
  return seconds === undefined ? undefined : { word, instant, date: new Date(seconds * 1000) };
}

/** The instant of `as-of` of an address, if it has one. */
export const instantOf = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : readAsOf(word, new Date())?.instant;
