import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPage } from '../../src/storage/read/page.ts';
import type { PageQuery } from '../../src/storage/read/page-sql.ts';
import type { SqlValue, Store, TenantId } from '../../src/storage/store.ts';
import { findClientWithSecrets } from '../../src/storage/tables/client-secret.ts';
import { openBenchPostgres } from '../support/bench-store.ts';
import { loadDataSet, until } from '../support/data-set.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { machineFacts, writeSection } from '../support/results.ts';
import { type Driver, openDrivers } from './drivers.ts';

// What the same work costs through our own messages, through `pg` and through `postgres`: CPU time
// of this process and of PostgreSQL, all sides in turn in one run. The package `postgres` is no
// dependency: `npm install --no-save postgres@3.4.9` first.
//   npm run bench -- drivers --records 200000 --rounds 5

const options = readOptions({ records: 200_000, rounds: 5, seconds: 1, connections: 32 });
const tenantCount = 50;

const bench = await openBenchPostgres();
const tenants = await loadDataSet(bench.store, options.records, tenantCount);
await bench.administer('vacuum analyze');
const url = bench.environment.DATABASE_URL ?? '';
const drivers = openDrivers(url);

/** Work of one caller: each call is counted once. */
type Work = (driver: Driver) => Promise<number>;

const anyTenant = (): TenantId => tenants[Math.floor(Math.random() * tenants.length)] as TenantId;

function pageQuery(position: PageQuery['position']): PageQuery {
  return {
    filter: { dateColumn: 'created_date' },
    order: { column: 'created_date', descending: true },
    position,
    size: 50,
    layout: 'array',
  };
}

const page: Work = async ({ store }) => {
  await readPage({ store }, anyTenant(), pageQuery({ kind: 'offset', skip: 0 }));
  return 1;
};

/** Ten pages of a tenant, each after the last record of the one before. */
const walk: Work = async ({ store }) => {
  const tenant = anyTenant();
  const first = pageQuery({ kind: 'offset', skip: 0 });
  let pages = 0;
  for (let position = first.position; pages < 10; ) {
    const { records, hasMore } = await readPage({ store }, tenant, { ...first, position });
    pages += 1;
    if (records.last === undefined || !hasMore) break;
    position = { kind: 'after', orderKey: records.last };
  }
  return pages;
};

const exportSql = 'select record from subscription where tenant_id = $1 order by created_date, id';

/** The whole report of the largest tenant. */
const wholeReport: Work = async (driver) => {
  const tenant = tenants[0] as TenantId;
  return await driver.readLines(exportSql, tenant);
};

let family = 0;

/** The statements of a token: the client with its secrets, and a new refresh family. */
const token: Work = async ({ store }) => {
  family += 1;
  const id = `f${family}`;
  const found = await findClientWithSecrets(store, 'bench-client', until);
  if (found === undefined) throw new TypeError('Cannot measure: the client must exist');
  const values: readonly SqlValue[] = ['bench-client', id, '', 0, until, until, until, until, until];
  await store.writeDirectory([
    {
      sql: `insert into refresh_family (client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, access_ends_at)
        select client_id, $2, $3, $4, $5, $6, $7, $8, $9 from client where client_id = $1`,
      values,
    } as Parameters<Store['writeDirectory']>[0][number],
  ]);
  return 1;
};

interface Measured {
  readonly client: number;
  readonly server: number;
}

/** CPU seconds of the server, its processes and those that have ended (in steps of 10 ms). */
function serverSeconds(): number {
  const pid = bench.serverPid ?? 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return exactFamilyCpuSeconds(pid) + (Number(fields[13]) + Number(fields[14])) / 100;
}

async function measure(driver: Driver, work: Work, callers: number, seconds: number): Promise<Measured> {
  const endsAt = performance.now() + seconds * 1_000;
  const [own, server] = [process.cpuUsage(), serverSeconds()];
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endsAt) {
        const finished = await work(driver);
        done += finished;
      }
    }),
  );
  await sleep(50); // connections that were closed have ended
  const { user, system } = process.cpuUsage(own);
  return { client: (user + system) / done, server: ((serverSeconds() - server) * 1e6) / done };
}

async function compare(name: string, work: Work, callers: number): Promise<void> {
  const results = new Map<Driver, Measured[]>(drivers.map((driver) => [driver, []]));
  for (let round = 0; round <= options.rounds; round += 1)
    for (const driver of round % 2 === 0 ? drivers : drivers.toReversed()) {
      const measured = await measure(driver, work, callers, options.seconds);
      if (round > 0) results.get(driver)?.push(measured);
    }
  const base = results.get(drivers[0] as Driver) ?? [];
  const rows = drivers.map((driver) => {
    const all = results.get(driver) ?? [];
    const ratios = all.map(({ client, server }, index) => {
      const of = base[index] as Measured;
      return (client + server) / (of.client + of.server);
    });
    const cells = [
      driver.name,
      median(all.map(({ client }) => client)).toFixed(1),
      median(all.map(({ server }) => server)).toFixed(1),
      `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const text = [`| ${name}, ${callers} at once | client µs | server µs | ÷ own |`, '|---|---|---|---|', ...rows].join(
    '\n',
  );
  console.log(`${text}\n`);
  sections.push(text);
}

const sections: string[] = [];
await bench
  .administer(
    `insert into client (client_id, tenant_id, grants, scopes, created_at)
   select 'bench-client', id, '["client_credentials"]', '[]', 0 from tenant limit 1`,
  )
  .catch((error: unknown) => console.log(error));
await compare('page', page, options.connections);
await compare('page', page, 1);
await compare('page of a walk', walk, options.connections);
await compare('token', token, options.connections);
await compare('record of a whole report', wholeReport, 1);
if (!options.dryRun)
  writeSection(
    'drivers',
    `${machineFacts()}; ${options.records} records, ${tenantCount} tenants\n\n${sections.join('\n\n')}`,
    {
      file: new URL('../results/drivers.md', import.meta.url),
      title: '# Drivers of PostgreSQL, measured\n\nWritten by `npm run bench -- drivers`.\n',
    },
  );
for (const driver of drivers) await driver.close();
await bench.close();
