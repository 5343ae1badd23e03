import { computed } from '@preact/signals';
import { currentLocation, keepWhileMoving } from '../../ui/location.tsx';
import { readAsOf } from './read-as-of.ts';

keepWhileMoving('as-of');

const word = computed(() => currentLocation.value.query.get('as-of') ?? undefined);

/** The past time that the pages show, or `undefined` for the present. */
export const asOf = computed(() => (word.value === undefined ? undefined : readAsOf(word.value, new Date())));

/** Whether the address names a time that no page can show. */
export const isFaultyTime = computed(
  () => word.value !== undefined && (asOf.value === undefined || asOf.value.date > new Date()),
);

/** The time that the pages show. */
export const shownTime = (): Date => asOf.peek()?.date ?? new Date();
