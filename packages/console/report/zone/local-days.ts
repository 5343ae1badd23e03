import { formatInstant } from '../../../contract/instant.ts';
import { parseInstantIn } from '../../../contract/local-time.ts';
import type { Zone } from '../../../contract/zone.ts';

let currentZone: () => Zone | undefined = () => undefined;

/** Sets where the zone of the pages comes from. */
export function readZoneFrom(read: () => Zone | undefined): void {
  currentZone = read;
}

/** The zone in which the pages have their days; `undefined` is UTC. */
export const zoneOfPages = (): Zone | undefined => currentZone();

/** The name of the zone of the days: `UTC` or `Europe/Berlin`. */
export const zoneName = (): string => zoneOfPages()?.name ?? 'UTC';

/** In which zone days begin, in a sentence. */
export const daysHint = (): string => `Days begin at midnight in ${zoneName()}.`;

const dayMs = 86_400_000;

/** The day of a time in milliseconds: `2026-10-31`. */
export function localDay(ms: number, zone = zoneOfPages()): string {
  const seconds = Math.floor(ms / 1000);
  return formatInstant(seconds + (zone?.offsetAt(seconds) ?? 0)).slice(0, 10);
}

/** The time at which a day begins, in milliseconds. */
export function startMsOf(day: string, zone = zoneOfPages()): number {
  if (zone === undefined) return Date.parse(day);
  return (parseInstantIn(day, zone)?.seconds ?? Number.NaN) * 1000;
}

/** The day that is a number of days, and of months before these, after a day. */
export function dayAfterDays(day: string, days: number, months = 0): string {
  const date = new Date(day);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate() + days))
    .toISOString()
    .slice(0, 10);
}

/** The first day of the month of a day, or of the month that is a number of months after it. */
export const firstOfMonth = (day: string, months = 0): string => dayAfterDays(`${day.slice(0, 7)}-01`, 0, months);

/** Calendar days from one time to another, in milliseconds each. */
export const daysBetween = (from: number, to: number): number =>
  (Date.parse(localDay(to)) - Date.parse(localDay(from))) / dayMs;
