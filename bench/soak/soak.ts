import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../../src/auth/clients/manage-clients.ts';
import { checkRow } from '../../src/import/check-row.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, tenantSizes, until } from '../support/data-set.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { SoakClient, type Tally } from './soak-client.ts';

// A real service under a steady, mixed load for some minutes: does its memory stay flat, and is
// every response as expected?

const tenantCount = 20;
const options = readSoakOptions();
const mib = (bytes: number): number => Math.round(bytes / 1_048_576);

interface SoakOptions {
  readonly minutes: number;
  readonly records: number;
  /** CPU time that the service should use, in cores. */
  readonly cores: number;
  readonly engine: 'sqlite' | 'postgres';
}

function readSoakOptions(): SoakOptions {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      records: { type: 'string', default: '100000' },
      cores: { type: 'string', default: '0.5' },
      engine: { type: 'string', default: 'sqlite' },
    },
  });
  const number = (name: 'minutes' | 'records' | 'cores'): number => {
    const value = Number(values[name]);
    if (!(value > 0))
      throw new RangeError(`Cannot soak: --${name} must be above 0: current value is '${values[name]}'`);
    return value;
  };
  const engine = values.engine === 'postgres' ? 'postgres' : 'sqlite';
  return { minutes: number('minutes'), records: number('records'), cores: number('cores'), engine };
}

/** Changes 50 records of a tenant, so that cached data becomes outdated as in production. */
async function changeSome(store: Store, tenant: TenantId, round: number): Promise<void> {
  const rows = [...syntheticRows({ count: 50, seed: 1, until })].flatMap((row) => {
    const checked = checkRow({ ...row, device_id: `device-${round}` });
    return 'faults' in checked ? [] : [checked.row];
  });
  await store.loadSubscriptions(tenant, rows);
}

/** A sample of the service, with the CPU time used since the previous sample. */
interface Sample {
  readonly rss: number;
  readonly cores: number;
  /** Number of responses so far. */
  readonly responses: number;
}

/**
 * Sends requests until the time is over, as many as keep the service at its share of a core; yields
 * one sample per second.
 */
async function drive(
  server: ServerProcess,
  clients: readonly SoakClient[],
  every: () => Promise<void>,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  let perSecond = 50;
  let [sampledAt, cpu] = [performance.now(), server.cpuSeconds() ?? 0];
  for (const end = sampledAt + options.minutes * 60_000; performance.now() < end; ) {
    const began = performance.now();
    await Promise.all(
      clients.map(async (client) => {
        for (let sent = 0; sent < perSecond / clients.length && performance.now() - began < 1_000; sent += 1)
          await client.send();
      }),
    );
    await sleep(Math.max(0, 1_000 - (performance.now() - began)));
    const [now, used] = [performance.now(), server.cpuSeconds() ?? 0];
    const cores = ((used - cpu) * 1000) / (now - sampledAt);
    samples.push({ rss: server.rssBytes() ?? 0, cores, responses: countOf(tally) });
    perSecond = Math.max(10, perSecond * Math.min(1.3, Math.max(0.7, options.cores / Math.max(cores, 0.01))));
    [sampledAt, cpu] = [now, used];
    await every();
  }
  return samples;
}

const countOf = (counts: Tally): number => [...counts.values()].reduce((sum, count) => sum + count, 0);

const tally: Tally = new Map();
const opened = options.engine === 'postgres' ? await openBenchPostgres() : await openBenchSqlite();
const tenants = await loadDataSet(opened.store, options.records, tenantCount);
const sizes = tenantSizes(options.records, tenantCount);
const server = await startServer('src/cli/main.ts', ['serve'], {
  MANAGEMENT_PORT: '0',
  ACCESS_TOKEN_SECONDS: '60',
  PAGE_CACHE_MIB: '16', // full early, so that evictions are measured too
  ...opened.environment,
});
const origin = `http://127.0.0.1:${server.port}`;
const clients = await Promise.all(
  tenants.map(async (tenant, index) => {
    const credentials = await createClient(opened.store, Math.floor(Date.now() / 1000), { tenant });
    return new SoakClient(origin, credentials, Math.ceil((sizes[index] ?? 1) / 50), tally);
  }),
);
const started = performance.now();
let printedAt = started;
let rounds = 0;
const samples = await drive(server, clients, async () => {
  rounds += 1;
  if (rounds % 5 === 0) await changeSome(opened.store, tenants[rounds % tenantCount] ?? expectTenant(), rounds);
  if (performance.now() - printedAt < 30_000) return;
  printedAt = performance.now();
  const cores = (server.cpuSeconds() ?? 0) / ((printedAt - started) / 1000);
  console.log(
    `${((printedAt - started) / 1000).toFixed(0)} s: RSS ${mib(server.rssBytes() ?? 0)} MiB, ${cores.toFixed(2)} cores, ${countOf(tally)} responses`,
  );
});
await server.stop();
await opened.close();

function expectTenant(): never {
  throw new TypeError('Cannot soak: there must be tenants');
}

/** The median of some samples; single peaks, for example of an export, are not leaks. */
const medianRss = (of: readonly Sample[]): number =>
  of.map(({ rss }) => rss).toSorted((a, b) => a - b)[of.length >> 1] ?? 0;

/**
 * Thirds by responses rather than by time: memory settles with the number of requests, and a busy
 * machine sends fewer.
 */
const thirdOf = (index: 1 | 2): readonly Sample[] =>
  samples.filter(({ responses }) => Math.min(2, Math.floor((3 * responses) / countOf(tally))) === index);
const [middle, last] = [medianRss(thirdOf(1)), medianRss(thirdOf(2))];
const isFlat = last <= middle * 1.1;
/** Exports beyond the limits of a client (429) and of the service (503) are rejected. */
const expected = / (200|304)$|^export (429|503)$/;
const unexpected = [...tally].filter(([name]) => !expected.test(name));
console.log([...tally].map(([name, count]) => `${name}: ${count}`).join(', '));
console.log(
  `${isFlat && unexpected.length === 0 ? 'ok' : 'FAILED'}: median RSS of the middle third ${mib(middle)} MiB, of the last third ${mib(last)} MiB (at most 10 % more); highest ${mib(Math.max(...samples.map(({ rss }) => rss)))} MiB; ${unexpected.length} unexpected statuses`,
);
process.exitCode = isFlat && unexpected.length === 0 ? 0 : 1;
