import { openBenchPostgres } from '../support/bench-store.ts';
import { compareSides } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { readOptions } from '../support/options.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { formatResults } from './format-results.ts';
import { clientCredentialsSide, refreshSide } from './token-requests.ts';
import { startOidcProvider, startService } from './token-servers.ts';

// How many tokens a second both grants issue, ours and oidc-provider's.
//   npm run bench -- token
//   npm run bench -- token --rounds 1 --seconds 1

const options = readOptions({ records: 1, rounds: 12, seconds: 1, connections: 16 });
const opened = await openBenchPostgres();
const running: ServerProcess[] = [];
try {
  const [tenant] = await loadDataSet(opened.store, options.records, 1);
  if (tenant === undefined) throw new TypeError('Cannot measure: there must be a tenant');
  const ours = await startService(opened, tenant, options.connections);
  running.push(ours);
  const theirs = await startOidcProvider(opened, options.connections);
  running.push(theirs);
  const measured = await compareSides(
    [
      clientCredentialsSide('client_credentials, ours', ours),
      clientCredentialsSide('client_credentials, theirs', theirs),
      refreshSide('refresh, ours', ours),
      refreshSide('refresh, theirs', theirs),
    ].map((side) => ({ ...side, databaseSeconds: () => exactFamilyCpuSeconds(opened.serverPid ?? 0) })),
    options,
  );
  console.log(formatResults(measured, options));
} finally {
  for (const server of running) await server.stop();
  await opened.close();
}
