import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../client/index.ts';
import { openDestination } from '../../sync/destinations.ts';
import { runSync } from '../../sync/table/run-sync.ts';
import { watched } from './sync-history.ts';

// node sync-process.ts DESTINATION ENVIRONMENT STEP MS: a sync that kills itself with SIGKILL this
// many milliseconds after a step began, while the work goes on.

const [destination = '', environment = '', step = '', ms = ''] = process.argv.slice(2);
const variables = JSON.parse(environment);
const url: string = variables.SUBREPORT_URL;
const client = createClient({
  url,
  clientId: variables.SUBREPORT_CLIENT_ID,
  clientSecret: variables.SUBREPORT_CLIENT_SECRET,
  tokenUrl: `${url}/oauth2/token`,
});
let count = 0;
const kill = () => process.kill(process.pid, 'SIGKILL');
const between = async (): Promise<void> => {
  count += 1;
  if (count !== Number(step)) return;
  if (Number(ms) === 0) kill();
  void sleep(Number(ms)).then(kill);
};
const source = { client, service: `${url}/connect-api`, clientId: variables.SUBREPORT_CLIENT_ID };
await runSync(source, watched(await openDestination(JSON.parse(destination), async () => undefined), between));
