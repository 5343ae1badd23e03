import { didNotHappen } from './did-not-happen.ts';
import type { Drill } from './drill.ts';
import { failoverDrills } from './failover.ts';
import { httpDrills } from './http.ts';
import { memoryDrills } from './memory.ts';
import { nightOnCall } from './night-on-call.ts';
import { postgresDrills } from './postgres.ts';
import { processDrills } from './process.ts';
import { storeDrills } from './store.ts';
import { upgradeDrills } from './upgrade.ts';

/** Every drill, in the order in which they run. */
export const drills: readonly Drill[] = [
  ...postgresDrills,
  ...failoverDrills,
  ...storeDrills,
  ...upgradeDrills,
  ...processDrills,
  ...httpDrills,
  ...memoryDrills,
  nightOnCall,
  didNotHappen,
];
