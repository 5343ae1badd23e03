import { strings } from './strings.ts';

/** Formats dates as en-GB does, except that September is "Sep", as long as the other months. */
export function dateFormatter(options: Intl.DateTimeFormatOptions): (date: Date | number) => string {
  const format = new Intl.DateTimeFormat('en-GB', options);
  return (date) => format.format(date).replace(/\bSept\b/, 'Sep');
}

/** The day in UTC: "12 Mar 2026". */
export const formatDay = dateFormatter({ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

let zoneOfDates = (): string => 'UTC';

/** Sets the time zone in which `formatZonedDay` has its days. */
export function showDaysIn(zone: () => string): void {
  zoneOfDates = zone;
}

const dayFormats = new Map<string, (date: Date) => string>();

/** The day in the time zone of the pages: "12 Mar 2026". */
export function formatZonedDay(date: Date): string {
  const timeZone = zoneOfDates();
  const format =
    dayFormats.get(timeZone) ?? dateFormatter({ day: 'numeric', month: 'short', year: 'numeric', timeZone });
  dayFormats.set(timeZone, format);
  return format(date);
}

/** A time of the API to the minute in UTC: "12 Mar 2026, 08:15". */
export const formatMinute = (time: string): string => `${formatDay(new Date(time))}, ${time.slice(11, 16)}`;

/** To the second in UTC: "2026-03-12 08:15:00 UTC". */
export const formatUtc = (date: Date): string => `${date.toISOString().slice(0, 19).replace('T', ' ')} ${strings.utc}`;

/** To the second in the reader's time zone, which it names: "12 Mar 2026, 09:15:00 GMT+01:00". */
export const formatLocal = dateFormatter({
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'longOffset',
});
