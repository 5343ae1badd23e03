import { existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { directoryStatement } from '../../packages/service/storage/store.ts';
import { freePort } from '../../tools/free-port.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, tenantSizes, until } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { SoakClient, type SoakedService, type Tally } from './soak-client.ts';

// A real service under a steady, mixed load for some minutes, with loads, exports, history and its
// sweeps: do its memory, open files and write-ahead log stay flat, and is every response as
// expected?

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

/** Rows of 50 records of a tenant, each time with other values. */
function createChanges(): () => string {
  const rows = [...syntheticRows({ count: 50, seed: 1, until })];
  let round = 0;
  return () => {
    round += 1;
    return rows.map((row) => `${JSON.stringify({ ...row, device_id: `device-${round}` })}\n`).join('');
  };
}

/** Makes the changes of all days look a day older, so that the service's next sweep finds some. */
const agingSql = 'update tenant_revision set day = day - 1';
const agingMs = 300_000;

/** A sample of the service, with the CPU time used since the previous sample. */
interface Sample {
  readonly rss: number;
  readonly handles: number;
  readonly walBytes: number;
  readonly logBytes: number;
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
    samples.push({ ...look(), cores, responses: countOf(tally) });
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
const logFile = join(opened.folder, 'soak.log');
const managementPort = await freePort();
const server = await startServer(
  'packages/service/cli/main.ts',
  ['serve'],
  {
    MANAGEMENT_PORT: String(managementPort),
    ACCESS_TOKEN_SECONDS: '60',
    HISTORY_DAYS: '1',
    ...opened.environment,
  },
  openSync(logFile, 'a'),
);
const service: SoakedService = {
  origin: `http://127.0.0.1:${server.port}`,
  management: `http://127.0.0.1:${managementPort}`,
  changedRows: createChanges(),
};
const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);
const look = (): Omit<Sample, 'cores' | 'responses'> => ({
  rss: server.rssBytes() ?? 0,
  handles: server.handles() ?? 0,
  walBytes: sizeOf(join(opened.folder, 'subreport.db-wal')),
  logBytes: sizeOf(logFile),
});
const clients = await Promise.all(
  tenants.map(async (tenant, index) => {
    const scopes = ['subscription:read', 'subscription:write'] as const;
    const credentials = await createClient(opened.store, Math.floor(Date.now() / 1000), { tenant, scopes });
    const name = `tenant-${String(index + 1).padStart(3, '0')}`;
    return new SoakClient(service, name, credentials, Math.ceil((sizes[index] ?? 1) / 50), tally);
  }),
);
const started = performance.now();
let printedAt = started;
let agedAt = started;
const samples = await drive(server, clients, async () => {
  if (performance.now() - agedAt > agingMs) {
    agedAt = performance.now();
    await opened.store.writeDirectory([directoryStatement(agingSql, [])]);
  }
  if (performance.now() - printedAt < 60_000) return;
  printedAt = performance.now();
  const cores = (server.cpuSeconds() ?? 0) / ((printedAt - started) / 1000);
  const { rss, handles, walBytes, logBytes } = look();
  const [{ n: versions } = { n: 0 }] = await opened.store.readDirectory('select sum(history_rows) as n from tenant');
  console.log(
    `${((printedAt - started) / 60_000).toFixed(1)} min: RSS ${mib(rss)} MiB, ${handles} handles, WAL ${mib(walBytes)} MiB, ${Math.round(logBytes / countOf(tally))} bytes of log per response, ${versions} versions, ${cores.toFixed(2)} cores, ${countOf(tally)} responses`,
  );
});
await server.stop();
await opened.close();

/**
 * Thirds by responses rather than by time: memory settles with the number of requests, and a busy
 * machine sends fewer.
 */
const thirdOf = (index: 1 | 2): readonly Sample[] =>
  samples.filter(({ responses }) => Math.min(2, Math.floor((3 * responses) / countOf(tally))) === index);

/** What must not grow by more than a tenth from the middle third to the last one. */
const flat = {
  'MiB of RSS': ({ rss }: Sample) => mib(rss),
  handles: ({ handles }: Sample) => handles,
  'MiB of write-ahead log': ({ walBytes }: Sample) => mib(walBytes),
  'bytes of log per response': ({ logBytes, responses }: Sample) => Math.round(logBytes / Math.max(1, responses)),
};
const compared = Object.entries(flat).map(([name, value]) => {
  // medians: single peaks, for example of an export, are not leaks
  const [middle, last] = [median(thirdOf(1).map(value)), median(thirdOf(2).map(value))];
  return { text: `${name} ${middle} → ${last}`, isFlat: last <= middle * 1.1 };
});
/** Exports beyond the limits of a client (429) and of the service (503) are rejected. */
const expected = / (200|304)$|^(export|past) (429|503)$|^past 410$|^load (409|429|503)$/;
const unexpected = [...tally].filter(([name]) => !expected.test(name));
const isOk = unexpected.length === 0 && compared.every(({ isFlat }) => isFlat);
console.log([...tally].map(([name, count]) => `${name}: ${count}`).join(', '));
console.log(
  `${isOk ? 'ok' : 'FAILED'}: medians of the middle third → of the last third (at most 10 % more): ${compared.map(({ text }) => text).join(', ')}; highest ${mib(Math.max(...samples.map(({ rss }) => rss)))} MiB; ${unexpected.length} unexpected statuses`,
);
process.exitCode = isOk ? 0 : 1;
