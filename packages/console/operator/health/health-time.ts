import { type HealthPeriod, healthPeriods } from '../../../contract/operator/health.ts';
import { placeOf, type Slots } from '../../charts/slot-places.ts';
import { dateFormatter } from '../../ui/format-date.ts';

/** The fixed window of the charts: it ends at a time, and is as long as its name says. */
export interface TimeWindow extends Slots {
  /** Milliseconds since 1970. */
  readonly end: number;
  readonly slotMs: number;
}

/** The window of a period until `end`, with the value before the last `lastSeconds` earlier. */
export function windowOf(period: HealthPeriod, end: number, lastSeconds: number): TimeWindow {
  const { seconds, values } = healthPeriods[period];
  return { end, slotMs: seconds * 1000, slots: values + 1, shift: Math.max(0, 1 - lastSeconds / seconds) };
}

/** The time of a slot, in milliseconds. */
export const timeOf = (window: TimeWindow, slot: number): number => timeAt(window, placeOf(window, slot));

const timeAt = ({ end, slotMs, slots }: TimeWindow, place: number): number => end - (slots - 1 - place) * slotMs;

/** The place of a time in milliseconds on the axis; negative before the window. */
export const placeAt = ({ end, slotMs, slots }: TimeWindow, time: number): number => slots - 1 - (end - time) / slotMs;

const clock = dateFormatter({ hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const day = dateFormatter({ day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A time of the window: "14:05", with the day if it is not that of the end: "25 Nov, 14:05". */
const short = (window: TimeWindow, time: number): string =>
  `${day(time) === day(window.end) ? '' : `${day(time)}, `}${clock(time)}`;

/** A time of the window with its zone: "25 Nov, 14:05 UTC". */
export const wordOf = (window: TimeWindow, time: number): string => `${short(window, time)} UTC`;

/** The labels below the axis: the beginning, the middle and the end. */
export function labelsOf(window: TimeWindow): string[] {
  const middle = timeAt(window, (window.slots - 1) / 2);
  return [short(window, timeAt(window, 0)), clock(middle), wordOf(window, window.end)];
}
