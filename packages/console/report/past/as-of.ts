import { computed } from '@preact/signals';
import { currentLocation, keepWhileMoving } from '../../ui/location.tsx';
import { strings as uiStrings } from '../../ui/strings.ts';
import { historyBegin } from '../session/session.ts';
import { describeTime } from './describe-time.ts';
import { pastStrings } from './past-strings.ts';
import { readAsOf } from './read-as-of.ts';

keepWhileMoving('as-of');

const word = computed(() => currentLocation.value.query.get('as-of') ?? undefined);

/** The past time that the pages show, or `undefined` for the present. */
export const asOf = computed(() => (word.value === undefined ? undefined : readAsOf(word.value, new Date())));

/** Whether there is a report of a time, as far as the page knows. */
export const isKept = (date: Date): boolean => date >= new Date(historyBegin.value ?? 0);

/** Why no page can show the time of the address, if it names such a time. */
export const timeFault = computed((): string | undefined => {
  if (word.value === undefined) return undefined;
  if (asOf.value === undefined || asOf.value.date > new Date()) return uiStrings.timeRule;
  if (isKept(asOf.value.date)) return undefined;
  return pastStrings.beginsLater(describeTime({ date: new Date(historyBegin.value ?? 0) }));
});

/** The time that the pages show. */
export const shownTime = (): Date => asOf.peek()?.date ?? new Date();
