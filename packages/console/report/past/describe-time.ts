import { formatInstant } from '../../../contract/instant.ts';
import { formatMinute } from '../../ui/format-date.ts';
import { zoneName, zoneOfPages } from '../zone/local-days.ts';
import type { PastTime } from './read-as-of.ts';

/** "1 Nov 2026, 00:00 UTC", in the time zone of the pages. */
export function describeTime({ date }: Pick<PastTime, 'date'>): string {
  const seconds = date.getTime() / 1000;
  return `${formatMinute(formatInstant(seconds + (zoneOfPages()?.offsetAt(seconds) ?? 0)))} ${zoneName()}`;
}
