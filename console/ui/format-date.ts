import { strings } from './strings.ts';

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const localFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'longOffset',
});

/** The day in UTC: "12 Mar 2026". */
export const formatDay = (date: Date): string => dayFormat.format(date);

/** To the second in UTC: "2026-03-12 08:15:00 UTC". */
export const formatUtc = (date: Date): string => `${date.toISOString().slice(0, 19).replace('T', ' ')} ${strings.utc}`;

/** To the second in the reader's time zone, which it names: "12 Mar 2026, 09:15:00 GMT+01:00". */
export const formatLocal = (date: Date): string => localFormat.format(date);
