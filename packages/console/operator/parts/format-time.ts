import { formatDay } from '../../ui/format-date.ts';

/** To the second, with the zone: "12 Mar 2026, 08:15:04 UTC". */
export const formatSecond = (time: string): string => `${formatDay(new Date(time))}, ${time.slice(11, 19)} UTC`;
