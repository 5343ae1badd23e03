import { parseInstant } from '../../../contract/instant.ts';
import { dayOf } from '../../../contract/relative-day.ts';

/** A past time that the address names. */
export interface PastTime {
  /** As in the address: `this-month`, `2026-10-31` or an instant. */
  readonly word: string;
  /** For the API. */
  readonly instant: string;
  readonly date: Date;
}

/** Reads `as-of` of an address: a day, which is its begin in UTC, or an instant. */
export function readAsOf(word: string, now: Date): PastTime | undefined {
  const day = dayOf(word, now.toISOString().slice(0, 10));
  const instant = day === undefined ? word : `${day}T00:00:00Z`;
  const seconds = parseInstant(instant)?.seconds;
  return seconds === undefined ? undefined : { word, instant, date: new Date(seconds * 1000) };
}

/** The instant of `as-of` of an address, if it has one. */
export const instantOf = (word: string | undefined): string | undefined =>
  word === undefined ? undefined : readAsOf(word, new Date())?.instant;
