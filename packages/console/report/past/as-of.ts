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

/** Why no page can show the time of the address, if it names such a time. */
export const timeFault = computed((): string | undefined => {
  if (word.value === undefined) return undefined;
  if (asOf.value === undefined || asOf.value.date > new Date()) return uiStrings.timeRule;
  const begin = historyBegin.value;
  const isKept = begin === undefined || asOf.value.date >= new Date(begin);
  return isKept ? undefined : pastStrings.beginsLater(describeTime({ date: new Date(begin) }));
});

/** The time that the pages show. */
export const shownTime = (): Date => asOf.peek()?.date ?? new Date();
