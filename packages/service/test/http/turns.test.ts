import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isThorough } from '../../../../test/support/draw.ts';
import { machineSlowness } from '../../../../test/support/machine-slowness.ts';
import { startMeteredService } from '../../../../test/support/metered-service.ts';
import { openProbedTenant } from '../../../../test/support/probed-tenant.ts';
import { measureActivities } from '../../../../test/support/turn-activities.ts';

/** More records take longer; `npm run probe:turns` measures a million. */
const records = 20_000;
/** CPU milliseconds of a turn; more on a slower machine. */
const turnMsMax = 20;

// takes 28 CPU seconds
test.runIf(isThorough)(
  'no turn of the event loop costs over 20 ms of CPU, whatever the embedded store is used for',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-turns-'));
    try {
      const tenant = await openProbedTenant(folder, records);
      const service = await startMeteredService({ DATA_DIR: folder });
      const slowness = machineSlowness();
      const limit = turnMsMax * slowness;
      const measured = await measureActivities(service, tenant, 2, undefined, undefined, limit);
      expect(await service.stop()).toBe(0);
      const longest = measured.map(({ activity, longestMs }) => ({ activity, ms: Math.min(...longestMs) }));
      expect(longest.filter(({ ms }) => ms > limit)).toEqual([]);
      expect(measured.flatMap(({ failures }) => failures)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
