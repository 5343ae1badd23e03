import { openBenchPostgres } from '../support/bench-store.ts';
import { compareSides, type Side } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { readOptions } from '../support/options.ts';
import { getRequest } from '../support/our-service.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { formatResults } from './format-results.ts';
import { measuredPaths } from './measured-paths.ts';
import { clientCredentialsSide, mintTokens, refreshSide } from './token-requests.ts';
import { startOidcProvider, startService } from './token-servers.ts';

// How many tokens a second both grants issue, ours and oidc-provider's, and what the check of an
// access token costs our API.
//   npm run bench -- token
//   npm run bench -- token --rounds 1 --seconds 1

/** More access tokens than the service caches, so each is uncached when it is used again. */
const manyTokens = 10_600;

const options = readOptions({ records: 2_000, rounds: 12, seconds: 1, connections: 16 });
const opened = await openBenchPostgres();
const running: ServerProcess[] = [];
try {
  const [tenant] = await loadDataSet(opened.store, options.records, 1);
  if (tenant === undefined) throw new TypeError('Cannot measure: there must be a tenant');
  const ours = await startService(opened, tenant, options.connections);
  running.push(ours);
  const theirs = await startOidcProvider(opened, options.connections);
  running.push(theirs);
  const tokens = await mintTokens(ours, manyTokens);
  const few = tokens.slice(0, options.connections);
  // the open routes receive and ignore the tokens too, so that only the check differs
  const pages = (name: string, path: string, sent: readonly string[]): Side => ({
    name,
    server: ours,
    requests: sent.map((token) => getRequest(path, { authorization: `Bearer ${token}` })),
    status: 200,
  });
  const measured = await compareSides(
    [
      clientCredentialsSide('client_credentials, ours', ours),
      clientCredentialsSide('client_credentials, theirs', theirs),
      refreshSide('refresh, ours', ours),
      refreshSide('refresh, theirs', theirs),
      pages('open page', measuredPaths.openPage, few),
      pages('page, tokens seen before', measuredPaths.guardedPage, few),
      pages('page, new tokens', measuredPaths.guardedPage, tokens),
      pages('open report', measuredPaths.openReport, few),
      pages('report, tokens seen before', measuredPaths.guardedReport, few),
      pages('report, new tokens', measuredPaths.guardedReport, tokens),
    ].map((side) => ({ ...side, databaseSeconds: () => exactFamilyCpuSeconds(opened.serverPid ?? 0) })),
    options,
  );
  console.log(formatResults(measured, options));
} finally {
  for (const server of running) await server.stop();
  await opened.close();
}
