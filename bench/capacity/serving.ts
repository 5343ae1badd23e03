import { get } from 'node:http';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { asRequests, fetchPage, randomPages } from '../report/page-requests.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { runLoad } from '../support/loader.ts';
import { type StartedService, startOurs } from '../support/our-service.ts';
import { treeCpuSeconds, treeMemoryMib } from './process-tree.ts';

/** CPU seconds, of the service with its workers and of PostgreSQL. */
export interface Cost {
  readonly name: string;
  readonly service: number;
  readonly database: number;
}

/** What serving costs in one configuration. */
export interface Served {
  readonly workers: number;
  /** CPU seconds for 1,000 requests, or for an export of a million records. */
  readonly costs: readonly Cost[];
  /** Memory of the service in MiB: after its start, and after the load. */
  readonly memory: { readonly started: number; readonly loaded: number };
}

/** How long to measure. */
export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Thousands of requests after which the compiler has optimized the service. */
const warmUpThousands = 4;

/** Measures the requests of one configuration: the number of workers. */
export async function measureServing(
  opened: BenchStore,
  tenants: readonly TenantId[],
  large: { readonly tenant: TenantId; readonly records: number },
  workers: number,
  effort: Effort,
): Promise<Served> {
  // requests must not time out on a busy machine
  const settings = { LOG_LEVEL: 'info', REQUEST_SECONDS_MAX: '60' };
  const all = [...new Set([...tenants, large.tenant])];
  const cached = await startOurs(opened, all, settings, undefined, workers);
  const started = treeMemoryMib(cached.pid);
  const uncached = await startOurs(opened, all, { ...settings, PAGE_CACHE_MIB: '0' }, undefined, workers);
  try {
    const costs = [
      ...(await measureRequests(opened, cached, uncached, tenants, effort)),
      await measureExport(opened, cached, large),
    ];
    return { workers, costs, memory: { started, loaded: treeMemoryMib(cached.pid) } };
  } finally {
    await cached.stop();
    await uncached.stop();
  }
}

async function measureRequests(
  opened: BenchStore,
  cached: StartedService,
  uncached: StartedService,
  tenants: readonly TenantId[],
  effort: Effort,
): Promise<Cost[]> {
  const [page] = randomPages(tenants, 1);
  if (page === undefined) throw new RangeError('Cannot measure: there must be a page');
  const etag = (await fetchPage(cached.port, page, cached.tokens)).headers.get('etag') ?? '';
  const loads = [
    { name: 'cold page', server: uncached, requests: asRequests(randomPages(tenants, 20_000), uncached.tokens) },
    { name: 'hot page', server: cached, requests: asRequests([page], cached.tokens) },
    {
      name: '304',
      server: cached,
      status: 304,
      requests: asRequests([page], cached.tokens, { 'if-none-match': etag }),
    },
    { name: 'token', server: cached, requests: cached.clients.map(tokenRequest) },
  ];
  const costs: Cost[] = [];
  for (const { name, server, requests, status = 200 } of loads) {
    const run = async (): Promise<number> => {
      const { perSecond } = await runLoad({ port: server.port, requests, status, ...effort });
      return (perSecond * effort.seconds) / 1_000;
    };
    for (let sent = 0; sent < warmUpThousands; ) sent += await run();
    const rounds: Cost[] = [];
    while (rounds.length < effort.rounds) rounds.push(await costOf(opened, server, name, run));
    // other load on the machine can only add to CPU time, so the least is the truest
    rounds.sort((a, b) => a.service + a.database - b.service - b.database);
    costs.push(...rounds.slice(0, 1));
  }
  return costs;
}

/** The CPU time of some work, divided by the amount that the work returns. */
async function costOf(
  { serverPid }: BenchStore,
  server: StartedService,
  name: string,
  work: () => Promise<number>,
): Promise<Cost> {
  const used = () => ({
    service: treeCpuSeconds(server.pid),
    database: serverPid === undefined ? 0 : treeCpuSeconds(serverPid),
  });
  const before = used();
  const amount = await work();
  const after = used();
  return {
    name,
    service: (after.service - before.service) / amount,
    database: (after.database - before.database) / amount,
  };
}

/** An export as NDJSON, per million records. */
const measureExport = (
  opened: BenchStore,
  server: StartedService,
  { tenant, records }: { readonly tenant: TenantId; readonly records: number },
): Promise<Cost> =>
  costOf(opened, server, 'export', async () => {
    const headers = { authorization: `Bearer ${server.tokens.get(tenant)}`, 'accept-encoding': 'identity' };
    const path = '/connect-api/v1/subscription?all=true&format=ndjson';
    await new Promise<void>((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port: server.port, path, headers }, (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`the status was ${response.statusCode}`)),
        );
        response.on('error', reject);
      });
      request.on('error', reject);
    });
    return records / 1e6;
  });

/** A request for a token with client credentials. */
function tokenRequest(client: StartedService['clients'][number]): Buffer {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString();
  const head = [
    'POST /oauth2/token HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/x-www-form-urlencoded',
    `content-length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
