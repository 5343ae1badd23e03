import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { StorageError } from '../../packages/service/storage/error.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { sweepVersions } from '../../packages/service/storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { freezePostgres, type PostgresServer } from '../../tools/postgres-server.ts';
import type { Drill } from '../drills/drill.ts';
import { DrilledService } from '../drills/drilled-service.ts';
import { changedAsKept, keepMoment, lookAtHistory, readMoment } from '../drills/history.ts';
import type { Stage } from '../drills/stage.ts';
import { fillWithOlder, importInto } from '../drills/upgrade.ts';
import { createDatabase, createRole, dropDatabase } from '../support/databases.ts';
import { urlOf } from '../support/global-setup.ts';
import { subscriptionRow } from '../support/rows.ts';
import { type CitusCluster, portOf, query } from './start-cluster.ts';

// Faults and procedures of docs/operators/citus.md on a real cluster.

const role = 'subreport_drill';
const unavailable = '503 with Retry-After';

/** An empty database of the cluster that an ordinary role owns, until the drill ends. */
interface Place {
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a statement as the superuser. */
  readonly sql: (text: string) => Promise<Record<string, unknown>[]>;
}

async function openPlace(cluster: CitusCluster, stage: Stage): Promise<Place> {
  const { url } = cluster.coordinator;
  const database = `citus_${stage.random.seed()}`;
  await createRole(url, role);
  await createDatabase(url, database, { owner: role });
  stage.defer(() => dropDatabase(url, database));
  const folder = mkdtempSync(join(tmpdir(), 'subreport-citus-'));
  stage.defer(() => rmSync(folder, { recursive: true, force: true }));
  const superuser = urlOf(url, database, 'postgres');
  return {
    environment: { DATABASE_URL: urlOf(url, database, role), DATA_DIR: folder, REQUEST_SECONDS_MAX: '5' },
    sql: (text) => query(superuser, text),
  };
}

/** A digest of all records, whatever columns a version adds to them. */
async function digestOf({ sql }: Place): Promise<string> {
  const rows = await sql('select tenant_id, id, record, email from subscription order by tenant_id, id');
  return `${rows.length} ${createHash('sha256').update(JSON.stringify(rows)).digest('hex')}`;
}

/** Reports of the tenants of a cluster whose workers fail. */
interface Failing {
  readonly service: DrilledService;
  /** Tenants of the worker that fails, and of another one. */
  readonly there: readonly DrilledService[];
  readonly elsewhere: DrilledService;
  readonly look: () => Promise<string>;
  /** Loads, replaces, erases and deletes for tenants of another worker; returns the results. */
  readonly change: () => Promise<string>;
  /** What a load for a tenant of the worker that fails is answered, over HTTP and as a command. */
  readonly refuse: () => Promise<string>;
  /** Sweeps all versions; returns the error, and whether the other worker has versions left. */
  readonly sweep: () => Promise<string>;
}

/** What `change` and `refuse` return. */
const changed =
  'import 0, of changes 0, replacement 0, PUT 200, PUT of changes 200, erasure 0, one by ICCID 0, deletion of a tenant 0';
const refused = `PUT ${unavailable}, import 75 and a sentence; an unknown tenant there ${unavailable}, import 75 and a sentence`;
const swept = 'sweep UNAVAILABLE, versions of others some, then some; /metrics 200';

const tenantsOfWorker = 4;

/** Starts a service with tenants on a worker and one on another worker. */
async function serveTenants(cluster: CitusCluster, stage: Stage, failing: PostgresServer): Promise<Failing> {
  const place = await openPlace(cluster, stage);
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = place.environment;
  const store = openStore({ databaseUrl, dataDir, poolSize: 2, onConnectionError: () => undefined });
  const isThere = async (tenant: string): Promise<boolean> => {
    const [at] = await place.sql(
      `select nodeport from citus_shards where shardid = get_shard_id_for_distribution_column('subscription', '${tenant}')`,
    );
    return String(at?.nodeport) === portOf(failing);
  };
  let unknown = 'unknown';
  const [there, elsewhere]: { name: string; client: DrilledService['client'] }[][] = [[], []] as const;
  try {
    await store.migrate();
    for (let n = 0; there.length < tenantsOfWorker || elsewhere.length < 2; n += 1) {
      const name = `tenant-${n}`;
      await insertTenant(store, name, 1);
      const tenant = (await findTenant(store, name))?.tenant;
      if (tenant === undefined) throw new TypeError('the tenant must exist once it was inserted');
      const rows = Array.from({ length: 100 }, (_, row) => subscriptionRow({ id: `id${row}`, createdDate: row }));
      await store.loadSubscriptions(tenant, rows);
      const scopes = ['subscription:read', 'subscription:write'] as const;
      const client = await createClient(store, Math.floor(Date.now() / 1000), { tenant, scopes: [...scopes] });
      ((await isThere(name)) ? there : elsewhere).push({ name, client });
    }
    while (!(await isThere(unknown))) unknown += '-';
  } finally {
    await store.close();
  }
  const [lost] = there;
  const [living, deleted] = elsewhere;
  if (lost === undefined || living === undefined || deleted === undefined)
    throw new TypeError('each worker must have tenants');
  const service = await stage.serve({ environment: place.environment, client: living.client });
  const { command, port, managementPort } = service;
  const { stdout } = await stage.succeed(['operator', 'create', '--name', 'drill', '--json'], {
    environment: place.environment,
  });
  const operator = { authorization: `Bearer ${(JSON.parse(stdout) as { token: string }).token}` };
  const clients = there
    .slice(0, tenantsOfWorker)
    .map(({ client }) => new DrilledService(command, port, managementPort, client));
  for (const client of [service, ...clients]) {
    await client.logIn();
    await client.until('200');
  }
  const [one = service] = clients;
  const look = async (): Promise<string> =>
    `its tenants ${await one.report()}; others ${await service.report()}, token ${await service.requestToken()}, /readyz ${await service.status('/readyz')}`;
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stderr } = await stage.run(args, { environment: place.environment, input });
    return code === 0 ? '0' : `${code}: ${stderr}`;
  };
  const load = (input: string, ...options: string[]): Promise<string> =>
    run(['import', '-', '--tenant', living.name, '--format', 'ndjson', ...options], input);
  const put = async (rows: string, to = service, name = living.name): Promise<string> => {
    const { status, headers, text } = await to.tryToLoad(rows, name);
    if (status === 200) return '200';
    return `${status}${headers.has('retry-after') ? ' with Retry-After' : ''}${status === 503 ? '' : `: ${text}`}`;
  };
  const change = async (): Promise<string> => {
    const rows = stage.rows(60);
    const ofStatus = (status: string): string =>
      rows.replaceAll(/^.+$/gm, (line) => JSON.stringify({ ...JSON.parse(line), status }));
    const { iccid } = JSON.parse(rows.split('\n')[9] ?? '') as { iccid: string };
    return [
      `import ${await load(rows)}, of changes ${await load(ofStatus('DEPLETED'))}`,
      `replacement ${await load(ofStatus('ACTIVE').split('\n').slice(0, 40).join('\n'), '--replace', '--remove', '120')}`,
      `PUT ${await put(rows)}, PUT of changes ${await put(ofStatus('EXPIRED'))}`,
      `erasure ${await run(['subscription', 'delete', '--tenant', living.name, '--id', 'loaded1', 'loaded2'])}`,
      `one by ICCID ${await run(['subscription', 'delete', '--tenant', living.name, '--iccid', iccid])}`,
      `deletion of a tenant ${await run(['tenant', 'delete', deleted.name, '--yes'])}`,
    ].join(', ');
  };
  const refuse = async (): Promise<string> => {
    const load = async (name: string): Promise<string> => {
      const args = ['import', '-', '--tenant', name, '--format', 'ndjson'];
      const { code, stderr } = await stage.run(args, { environment: place.environment, input: stage.rows(3) });
      return `${code} and ${/^Cannot [^\n]*\n$/.test(stderr) ? 'a sentence' : stderr}`;
    };
    const shown = await fetch(`http://127.0.0.1:${managementPort}/operator/v1/tenants/${unknown}`, {
      headers: operator,
    });
    const after = shown.headers.has('retry-after') ? ' with Retry-After' : '';
    const known = `PUT ${await put(stage.rows(3), one, lost.name)}, import ${await load(lost.name)}`;
    return `${known}; an unknown tenant there ${shown.status}${after}, import ${await load(unknown)}`;
  };
  const sweep = async (): Promise<string> => {
    const versions = async (): Promise<string> => {
      const [row] = await place.sql(
        `select count(*) as n from subscription_version where tenant_id = '${living.name}'`,
      );
      return Number(row?.n) === 0 ? '0' : 'some';
    };
    const before = await versions();
    const swept = openStore({ databaseUrl, dataDir, poolSize: 2, onConnectionError: () => undefined });
    const nowSeconds = Math.floor(Date.now() / 1000);
    const result = await sweepVersions(swept, { nowSeconds, days: 0 }).catch((error: unknown) => error);
    await swept.close();
    const failure = result instanceof StorageError ? result.code : result;
    const { status } = await fetch(`http://127.0.0.1:${managementPort}/metrics`);
    return `sweep ${failure}, versions of others ${before}, then ${await versions()}; /metrics ${status}`;
  };
  return { service, there: clients, elsewhere: service, look, change, refuse, sweep };
}

export const drillNames = ['upgrade', 'worker-killed', 'worker-hung', 'node-added'] as const;

interface CitusDrill extends Drill {
  readonly name: (typeof drillNames)[number];
}

/** The procedures of docs/operators/citus.md, and what must be observed. */
export const citusDrills = (cluster: CitusCluster): readonly CitusDrill[] => [
  {
    name: 'upgrade',
    fault: 'a database that the version before has filled is migrated, backed up, and restored into another one',
    expected: `migrate 0, records as before; doctor 0; report 200 of 3000; the report of before as it was; ${changedAsKept}; import 0; backup 0; restore 0, records as before; doctor 0; restored: the report of before 410 HISTORY_NOT_KEPT; ${changedAsKept}`,
    async run(stage) {
      const place = await openPlace(cluster, stage);
      const { environment } = place;
      const { client, moment, newer: program, service: older } = await fillWithOlder(stage, environment);
      await older.stop();
      const run = async (target: Place, ...args: string[]): Promise<string> => {
        const { code, stderr } = await stage.run(args, { environment: target.environment, program });
        return `${args[0]} ${code === 0 ? 0 : `${code}: ${stderr}`}`;
      };
      const compare = async (target: Place, before: string): Promise<string> =>
        (await digestOf(target)) === before ? 'records as before' : 'OTHER RECORDS';
      const first = await digestOf(place);
      // as with so many records that Citus changes several shards of a worker at once
      const [{ name } = { name: '' }] = await place.sql('select current_database() as name');
      await place.sql(`alter database ${name} set citus.force_max_query_parallelization = on`);
      const migrated = `${await run(place, 'migrate')}, ${await compare(place, first)}; ${await run(place, 'doctor')}`;
      const service = await stage.serve({ environment, client }, { program });
      await service.logIn();
      const report = `report ${await service.report()} of ${await service.total()}`;
      const before = await readMoment(service, moment);
      const changed = await lookAtHistory(stage, service, importInto(stage, environment, program));
      const kept = await keepMoment(service);
      await stage.succeed(['tenant', 'create', 'new'], { environment, program });
      const input = stage.rows(5_000);
      const { code } = await stage.run(['import', '-', '--tenant', 'new', '--format', 'ndjson'], {
        environment,
        input,
        program,
      });
      await service.stop();
      const [file, last] = [join(stage.folder, 'backup.db'), await digestOf(place)];
      const other = await openPlace(cluster, stage);
      await run(other, 'migrate');
      const backup = `${await run(place, 'backup', file)}; ${await run(other, 'restore', file)}`;
      const restored = `${await compare(other, last)}; ${await run(other, 'doctor')}`;
      const second = await stage.serve({ environment: other.environment, client }, { program });
      await second.logIn();
      const former = await readMoment(second, kept);
      const again = await lookAtHistory(stage, second, importInto(stage, other.environment, program));
      return `${migrated}; ${report}; the report of before ${before}; ${changed}; import ${code}; ${backup}, ${restored}; restored: the report of before ${former}; ${again}`;
    },
  },
  {
    name: 'worker-killed',
    fault: 'a worker is killed (kill -9) and started again',
    expected: `its tenants ${unavailable}; others 200, token 200, /readyz 200; ${changed}; its tenants ${refused}; ${swept}; afterwards its tenants 200; others 200, token 200, /readyz 200`,
    async run(stage) {
      const [worker = cluster.coordinator] = cluster.workers;
      const { there, look, change, refuse, sweep } = await serveTenants(cluster, stage, worker);
      await worker.crash();
      const see = async () => `${await look()}; ${await change()}; its tenants ${await refuse()}; ${await sweep()}`;
      const seen = await see().finally(() => worker.restart());
      await Promise.all(there.map((tenant) => tenant.until('200')));
      return `${seen}; afterwards ${await look()}`;
    },
  },
  {
    name: 'worker-hung',
    fault: `a worker is paused (SIGSTOP) while ${tenantsOfWorker} of its tenants send requests`,
    expected: `first requests of its tenants ${unavailable}; beside 5 more of each, 2 of them exports: others 200, /readyz 200; ${changed}; ${swept}; afterwards its tenants 200; others 200, token 200, /readyz 200`,
    async run(stage) {
      const [, worker = cluster.coordinator] = cluster.workers;
      const { there, service, look, change, sweep } = await serveTenants(cluster, stage, worker);
      const resume = await freezePostgres(worker);
      stage.defer(resume);
      const first = await Promise.all(there.map((tenant) => tenant.report()));
      let isOver = false;
      const more = there.flatMap((tenant) =>
        Array.from({ length: 5 }, (_, n) => tenant.report(n < 2 ? 'all=true&format=ndjson' : undefined)),
      );
      const ending = Promise.all(more).finally(() => {
        isOver = true;
      });
      const [others, ready] = [new Set<string>(), new Set<string>()];
      while (!isOver) {
        for (const query of [undefined, 'all=true&format=ndjson']) others.add(await service.report(query));
        ready.add(await service.status('/readyz'));
      }
      await ending;
      const seen = `${await change()}; ${await sweep()}`;
      resume();
      await Promise.all(there.map((tenant) => tenant.until('200')));
      return `first requests of its tenants ${[...new Set(first)]}; beside 5 more of each, 2 of them exports: others ${[...others]}, /readyz ${[...ready]}; ${seen}; afterwards ${await look()}`;
    },
  },
  {
    name: 'node-added',
    fault: 'a node is added and shards are rebalanced to it while reports are read',
    expected: 'reports 200; workers with shards: 3; doctor 0',
    async run(stage) {
      const place = await openPlace(cluster, stage);
      const { environment, sql } = place;
      await stage.succeed(['migrate'], { environment });
      for (const tenant of ['acme', 'beta']) {
        await stage.succeed(['tenant', 'create', tenant], { environment });
        await stage.succeed(['generate', '--tenant', tenant, '--subscriptions', '3000'], { environment });
      }
      const { stdout } = await stage.succeed(['client', 'create', '--tenant', 'acme', '--json'], { environment });
      const service = await stage.serve({ environment, client: JSON.parse(stdout) });
      await service.logIn();
      const node = await cluster.startNode();
      await createRole(node.url, role);
      const [{ name } = { name: '' }] = await sql('select current_database() as name');
      await query(node.url, `create database ${name}`);
      await query(urlOf(node.url, String(name), 'postgres'), 'create extension citus');
      await sql(`select citus_add_node('127.0.0.1', ${portOf(node)})`);
      const tables = await sql('select relname from pg_class where relforcerowsecurity');
      for (const { relname } of tables) await sql(`alter table ${relname} no force row level security`);
      await sql('select citus_rebalance_start()');
      let isOver = false;
      const ending = sql('select citus_rebalance_wait()').finally(() => {
        isOver = true;
      });
      const seen = new Set<string>();
      while (!isOver) seen.add(await service.report());
      await ending;
      for (const { relname } of tables) await sql(`alter table ${relname} force row level security`);
      const [{ nodes } = { nodes: 0 }] = await sql('select count(distinct nodeport) as nodes from citus_shards');
      const { code } = await stage.run(['doctor'], { environment });
      return `reports ${[...seen]}; workers with shards: ${nodes}; doctor ${code}`;
    },
  },
];
