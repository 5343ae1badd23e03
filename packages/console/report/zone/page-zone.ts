import { computed } from '@preact/signals';
import { findZone } from '../../../contract/zone.ts';
import { showDaysIn } from '../../ui/format-date.ts';
import { currentLocation, keepWhileMoving } from '../../ui/location.tsx';
import { strings } from '../../ui/strings.ts';
import { readZoneFrom, zoneName } from './local-days.ts';

keepWhileMoving('zone');

const name = computed(() => currentLocation.value.query.get('zone') ?? undefined);
const zone = computed(() => (name.value === undefined ? undefined : findZone(name.value)));
readZoneFrom(() => zone.value);
showDaysIn(zoneName);

/** Why no page can show the zone of the address, if it names one that does not exist. */
export const zoneFault = computed(() =>
  name.value !== undefined && zone.value === undefined ? strings.timeRule : undefined,
);

/** The zone of this browser. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
