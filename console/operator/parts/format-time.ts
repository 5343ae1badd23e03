import { formatDay } from '../../ui/format-date.ts';

/** A time of the API to the minute in UTC: "12 Mar 2026, 08:15". Hover shows the zones. */
export const formatMinute = (time: string): string => `${formatDay(new Date(time))}, ${time.slice(11, 16)}`;

/** To the second, with the zone: "12 Mar 2026, 08:15:04 UTC". */
export const formatSecond = (time: string): string => `${formatDay(new Date(time))}, ${time.slice(11, 19)} UTC`;
