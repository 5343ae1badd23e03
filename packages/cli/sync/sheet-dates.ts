import { formatInstant, parseInstant } from '../../contract/instant.ts';
import { localText } from '../../contract/local-text.ts';
import { parseInstantIn } from '../../contract/local-time.ts';
import type { Zone } from '../../contract/zone.ts';

/**
 * A local date of an export as spreadsheets read it: without its offset, unless the time alone is
 * another instant, as is the second of two equal times, or one whose offset has seconds.
 * `fromSheetDate` is the exact inverse.
 *
 * @example
 * toSheetDate(berlin, '2024-10-27T02:30:00+02:00') // '2024-10-27 02:30:00'
 * toSheetDate(berlin, '2024-10-27T02:30:00+01:00') // '2024-10-27 02:30:00+01:00'
 */
export function toSheetDate(zone: Zone, text: string): string {
  const [, date, time, offset] = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})([+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (offset === undefined) return text;
  const local = `${date} ${time}`;
  return fromSheetDate(zone, local) === text ? local : `${local}${offset}`;
}

/** A date of a file for spreadsheets as the export has it; anything else is unchanged. */
export function fromSheetDate(zone: Zone, text: string): string {
  const [, local, offset] = /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})([+-]\d{2}:\d{2})?$/.exec(text) ?? [];
  if (local === undefined) return text;
  const instant = offset === undefined ? parseInstantIn(local, zone) : parseInstant(text);
  return instant === undefined ? text : localText(zone, formatInstant(instant.seconds));
}
