import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startMeteredService } from '../../../../test/support/metered-service.ts';
import { openProbedTenant } from '../../../../test/support/probed-tenant.ts';
import { type ActivityTurns, measureActivities } from '../../../../test/support/turn-activities.ts';

// The longest turn of the event loop of a service on the embedded store, by what it does, in CPU
// milliseconds of the main thread.
//   npm run probe:turns -- --records 1000000 --rounds 3
//   npm run probe:turns -- --records 1000000 --data-dir /tmp/million    keeps the store
//   npm run probe:turns -- --only 'past|sweep'                          some of the activities

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    'data-dir': { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const folder = values['data-dir'] ?? mkdtempSync(join(tmpdir(), 'subreport-turns-'));
const tenant = await openProbedTenant(folder, Number(values.records));
const service = await startMeteredService({ DATA_DIR: folder });
console.log(
  `| with ${tenant.records} records | longest turn, least of ${values.rounds} rounds | each round | answers of others | failures |`,
);
console.log('|---|---|---|---|---|');
const write = ({ activity, longestMs, answers, failures }: ActivityTurns): void => {
  const rounds = longestMs.map((ms) => ms.toFixed(1));
  console.log(
    `| ${activity} | ${Math.min(...longestMs).toFixed(1)} | ${rounds.join(', ')} | ${answers} | ${failures.length} ${failures.at(0) ?? ''} |`,
  );
};
await measureActivities(service, tenant, Number(values.rounds), write, new RegExp(values.only));
await service.stop();
if (values['data-dir'] === undefined) rmSync(folder, { recursive: true });
