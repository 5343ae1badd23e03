import { readdirSync, readFileSync } from 'node:fs';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { exportSubscriptions } from '../../packages/service/report/export-subscriptions.ts';
import { getSubscriptionSummary } from '../../packages/service/report/get-subscription-summary.ts';
import { listSubscriptions } from '../../packages/service/report/list-subscriptions.ts';
import { parseReport } from '../../packages/service/report/parse.ts';
import { parseSummary } from '../../packages/service/report/parse-summary.ts';
import type { ReportContext } from '../../packages/service/report/report-query.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { RangeMemory } from '../../packages/service/storage/read/range-memory.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type PostgresServer, startPostgres } from '../../tools/postgres-server.ts';
import { createDatabase, createRole, dropDatabase } from '../support/databases.ts';
import { urlOf } from '../support/global-setup.ts';
import { subscriptionRow } from '../support/rows.ts';
import { type CitusCluster, query } from './start-cluster.ts';

// How much more CPU time the same work takes on a cluster than on one server: of this process,
// which does what the service does between parsing and the body of the response, and of all
// processes of the servers, both sides in turn.

const records = 20_000;
const pageSize = 50;
const rounds = 7;
const [database, role] = ['subreport_ratios', 'subreport_ratios'];

/** One side of the comparison, filled with the same tenant. */
interface Side {
  readonly servers: readonly PostgresServer[];
  readonly store: Store;
  /** As the service remembers them, of this side. */
  readonly ranges: RangeMemory;
  readonly tenant: TenantId;
}

/** What is compared: it is done some times in a row, which take 100 ms of CPU time or more. */
interface Work {
  readonly times: number;
  readonly run: (context: ReportContext, tenant: TenantId, at: WorkPlace) => Promise<unknown>;
}

/** Which round it is, and which time within the round, from 0. */
interface WorkPlace {
  readonly round: number;
  readonly time: number;
}

const rowsOf = (first: number, count: number, status: string) =>
  Array.from({ length: count }, (_, n) =>
    subscriptionRow({ id: `id${first + n}`, createdDate: 1_600_000_000 + (first + n) * 60, status }),
  );

const read = async (context: ReportContext, tenant: TenantId, query: string): Promise<void> => {
  await listSubscriptions(context, tenant, parseReport(query, context, 'json'));
};

const pages = (queryOf: (time: number) => string): Work => ({
  times: 300,
  run: (context, tenant, { time }) => read(context, tenant, queryOf(time)),
});

/** Rows of a load; an erasure has a tenth. */
const changed = 1_000;

const works: Readonly<Record<string, Work>> = {
  'first page, 50 records': pages(() => `size=${pageSize}`),
  'deep page, 50 records': pages((time) => `size=${pageSize}&page=${1 + ((time * 37) % (records / pageSize))}`),
  'page of a status, 50 records': pages((time) => `size=${pageSize}&status=ACTIVE&page=${1 + (time % 100)}`),
  'whole report, 20,000 records': { times: 3, run: readAll },
  'summary by month and product': {
    times: 50,
    run: (context, tenant) =>
      getSubscriptionSummary(context.store, tenant, parseSummary('by=month,product-id', context)),
  },
  'load of 1,000 new records': {
    times: 1,
    run: ({ store }, tenant, { round }) =>
      store.loadSubscriptions(tenant, rowsOf(records + round * changed, changed, 'ACTIVE')),
  },
  'load of 1,000 changed records': {
    times: 2,
    run: ({ store }, tenant, { round, time }) =>
      store.loadSubscriptions(tenant, rowsOf(time * changed, changed, `STATUS${round % 7}`)),
  },
  'erasure of 100 records': {
    times: 10,
    run({ store }, tenant, { round, time }) {
      const rows = rowsOf(records + round * changed + time * 100, 100, 'ACTIVE');
      return store.deleteSubscriptions(
        tenant,
        rows.map(({ id }) => id),
      );
    },
  },
};

async function readAll(context: ReportContext, tenant: TenantId): Promise<void> {
  const query = parseReport('all=true&format=ndjson', context, 'json');
  const report = await exportSubscriptions(context, tenant, query, 60_000);
  for await (const { bytes } of report.pieces) if (bytes.length === 0) throw new TypeError('a piece has bytes');
  await report.close();
}

/** Compares the work on a cluster and on a server of the same version; returns a table. */
export async function compareWithPlain(cluster: CitusCluster, postgres: string): Promise<string> {
  const server = await startPostgres(['autovacuum=off'], postgres);
  const { coordinator, workers } = cluster;
  const sides: Side[] = [];
  try {
    for (const servers of [[server], [coordinator, ...workers]]) sides.push(await fill(servers));
    const rows: string[] = [];
    for (const [name, work] of Object.entries(works)) {
      const measured: [number, number][] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const pair = await inTurn(sides, round, work);
        if (round > 0) measured.push(pair); // the first round fills caches
      }
      const ratios = measured.map(([plain, distributed]) => distributed / plain).toSorted((a, b) => a - b);
      const [plain, distributed] = [0, 1].map((side) => median(measured.map((pair) => pair[side] ?? 0)) / work.times);
      const range = `${ratios[0]?.toFixed(1)} to ${ratios.at(-1)?.toFixed(1)}`;
      rows.push(`| ${name} | ${show(plain)} | ${show(distributed)} | ${median(ratios).toFixed(1)} | ${range} |`);
      console.log(rows.at(-1));
    }
    return ['| work | CPU ms, plain | CPU ms, Citus | ratio | of the rounds |\n|---|---|---|---|---|', ...rows].join(
      '\n',
    );
  } finally {
    for (const { store } of sides) await store.close();
    await dropDatabase(coordinator.url, database);
    await server.stop();
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const show = (ms = Number.NaN): string => ms.toFixed(ms < 10 ? 2 : 0);

/** CPU milliseconds of the work on one server and on the cluster, whichever begins. */
async function inTurn(sides: readonly Side[], round: number, work: Work): Promise<[number, number]> {
  const used = new Map<Side, number>();
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) used.set(side, await measure(side, round, work));
  const [plain = 0, distributed = 0] = sides.map((side) => used.get(side));
  return [plain, distributed];
}

async function measure({ servers, store, ranges, tenant }: Side, round: number, work: Work): Promise<number> {
  const context = {
    store,
    ranges,
    limits: defaultPageLimits,
    reportUrl: 'http://localhost/r',
    now: () => 1_700_000_000,
  };
  const [begun, before] = [process.cpuUsage(), cpuMsOf(servers)];
  for (let time = 0; time < work.times; time += 1) await work.run(context, tenant, { round, time });
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000 + cpuMsOf(servers) - before;
}

async function fill(servers: readonly PostgresServer[]): Promise<Side> {
  const [{ url } = { url: '' }] = servers;
  await createRole(url, role);
  await dropDatabase(url, database);
  await createDatabase(url, database, { owner: role });
  const databaseUrl = urlOf(url, database, role);
  const store = openStore({ databaseUrl, dataDir: '', poolSize: 1, onConnectionError: () => undefined });
  await store.migrate();
  await insertTenant(store, 'acme', 1);
  const tenant = (await findTenant(store, 'acme'))?.tenant;
  if (tenant === undefined) throw new TypeError('the tenant must exist once it was inserted');
  for (let first = 0; first < records; first += 1_000)
    await store.loadSubscriptions(tenant, rowsOf(first, 1_000, first % 3_000 === 0 ? 'ACTIVE' : 'DEPLETED'));
  for (const each of servers) await query(urlOf(each.url, database, 'postgres'), 'vacuum analyze');
  return { servers, store, ranges: new RangeMemory(), tenant };
}

/** CPU milliseconds that servers have used, of their processes that run and that have exited. */
const cpuMsOf = (servers: readonly PostgresServer[]): number =>
  servers
    .flatMap(({ pid }) => [ticksOf(pid, true), ...childrenOf(pid).map((child) => ticksOf(child, false))])
    .reduce((sum, ticks) => sum + ticks, 0) * tickMs;

/** Of the clock that Linux counts CPU time with. */
const tickMs = 10;

function ticksOf(pid: number, withExited: boolean): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system, exitedUser, exitedSystem] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number) as [number, number, number, number];
    return user + system + (withExited ? exitedUser + exitedSystem : 0);
  } catch {
    return 0; // it has exited since
  }
}

const childrenOf = (pid: number): readonly number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
