import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store } from '../../packages/service/storage/store.ts';
import { findPostgresWithCitus, query, startCluster } from '../../test/citus/start-cluster.ts';
import { createDatabase, createRole, dropDatabase } from '../../test/support/databases.ts';
import { type PostgresServer, startPostgres } from '../../tools/postgres-server.ts';
import { treeCpuSeconds } from '../capacity/process-tree.ts';

/** A migrated, empty store, and the settings that select it. */
export interface BenchStore {
  readonly store: Store;
  readonly environment: Readonly<Record<string, string>>;
  /** Directory of the store. */
  readonly folder: string;
  /** Process id of the PostgreSQL server, if there is one. */
  readonly serverPid?: number;
  /** Process ids of the workers, if the server coordinates a Citus cluster. */
  readonly workerPids?: readonly number[];
  /** Runs a statement as the superuser, on each node of a cluster; on PostgreSQL only. */
  administer(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** CPU seconds of the database servers so far; 0 without one. */
export const databaseSeconds = ({
  serverPid,
  workerPids = [],
}: Pick<BenchStore, 'serverPid' | 'workerPids'>): number =>
  serverPid === undefined ? 0 : treeCpuSeconds(serverPid, ...workerPids);

/** The ordinary role that owns the databases. */
const owner = 'subreport_bench';

export function superuserUrl({ environment }: Pick<BenchStore, 'environment'>): string {
  const url = new URL(environment.DATABASE_URL ?? '');
  url.username = 'postgres';
  return url.href;
}

const failOnBroken = (error: Error & { readonly code?: string }): void => {
  // the server was stopped; a closed pool may still receive the error
  if (error.code !== '57P01') throw error;
};

/** The embedded store in a temporary folder. */
export async function openBenchSqlite(): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  const store = openStore({
    databaseUrl: undefined,
    dataDir: folder,
    poolSize: 1,
    onConnectionError: failOnBroken,
  });
  await store.migrate();
  return {
    store,
    environment: { DATA_DIR: folder },
    folder,
    administer: () => Promise.reject(new TypeError('Cannot administer SQLite: it has no superuser')),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A PostgreSQL server started for it. */
export async function openBenchPostgres(): Promise<BenchStore> {
  const server = await startPostgres();
  return openOn([server], () => server.stop());
}

/** A Citus cluster of a coordinator and two workers. */
async function openBenchCitus(): Promise<BenchStore> {
  const postgres = findPostgresWithCitus(undefined);
  if (postgres === undefined) throw new Error('Cannot measure Citus: a PostgreSQL with Citus must be installed');
  const { coordinator, workers, stop } = await startCluster(postgres);
  return openOn([coordinator, ...workers], stop);
}

/** A database of an ordinary role, on a server or a cluster, whose coordinator comes first. */
async function openOn(
  [server, ...workers]: readonly [PostgresServer, ...PostgresServer[]],
  stop: () => Promise<void>,
): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  await createRole(server.url, owner);
  await createDatabase(server.url, 'bench', { owner });
  const own = new URL(server.url);
  [own.username, own.pathname] = [owner, '/bench'];
  const store = openStore({ databaseUrl: own.href, dataDir: folder, poolSize: 2, onConnectionError: failOnBroken });
  await store.migrate();
  return {
    store,
    environment: { DATA_DIR: folder, DATABASE_URL: own.href },
    folder,
    serverPid: server.pid,
    ...(workers.length > 0 && { workerPids: workers.map(({ pid }) => pid) }),
    async administer(sql) {
      for (const { url } of [server, ...workers]) await query(url.replace(/[^/]+$/, 'bench'), sql);
    },
    async close() {
      await store.close();
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The environment of an empty store of the same engine. */
export async function emptyStore(
  { environment }: Pick<BenchStore, 'environment'>,
  folder: string,
): Promise<BenchStore['environment']> {
  const empty = { ...environment, DATA_DIR: join(folder, 'restored') };
  if (environment.DATABASE_URL === undefined) return empty;
  const superuser = superuserUrl({ environment });
  await dropDatabase(superuser, 'restored');
  await createDatabase(superuser, 'restored', { owner });
  return { ...empty, DATABASE_URL: environment.DATABASE_URL.replace(/[^/]+$/, 'restored') };
}

/** By the name of an engine. */
const openers: Readonly<Record<string, () => Promise<BenchStore>>> = {
  SQLite: openBenchSqlite,
  PostgreSQL: openBenchPostgres,
  Citus: openBenchCitus,
};

/** Opens an empty store of an engine that was asked for. */
export function openBenchOf(engine: string): Promise<BenchStore> {
  const open = openers[engine];
  if (open === undefined)
    throw new RangeError(`Cannot measure ${engine}: it must be one of ${Object.keys(openers).join(', ')}`);
  return open();
}
