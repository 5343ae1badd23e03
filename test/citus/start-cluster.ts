import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../tools/postgres-server.ts';

/** A Citus cluster on loopback. */
export interface CitusCluster {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];
  /** Starts another server that can become a worker. */
  startNode(): Promise<PostgresServer>;
  stop(): Promise<void>;
}

const settings = [
  'shared_preload_libraries=citus',
  'citus.local_hostname=127.0.0.1',
  'citus.node_conninfo=sslmode=disable',
  'citus.recover_2pc_interval=2s',
  'wal_level=logical', // shards are moved by logical replication
  'max_connections=300',
  'max_prepared_transactions=300',
  'max_wal_senders=20',
  'max_replication_slots=20',
  'max_worker_processes=60', // one for each database
  'autovacuum=off',
];

/** The folder of the first installed PostgreSQL with Citus, or of the one whose `bin` is given. */
export function findPostgresWithCitus(bin: string | undefined): string | undefined {
  const debian = '/usr/lib/postgresql';
  const installed = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : [];
  const onPath = (process.env.PATH ?? '').split(':');
  const folders = bin === undefined ? [...onPath, ...installed] : [bin];
  return folders
    .map((folder) => join(folder, 'pg_config'))
    .find(hasCitus)
    ?.replace(/\/bin\/pg_config$/, '');
}

function hasCitus(pgConfig: string): boolean {
  if (!existsSync(pgConfig) || !existsSync(join(dirname(pgConfig), 'initdb'))) return false;
  const { stdout } = spawnSync(pgConfig, ['--pkglibdir'], { encoding: 'utf8' });
  return existsSync(join(stdout.trim(), 'citus.so'));
}

/** Starts a coordinator and two workers; the database `postgres` of the coordinator knows them. */
export async function startCluster(postgres: string): Promise<CitusCluster> {
  const servers: PostgresServer[] = [];
  const startNode = async (): Promise<PostgresServer> => {
    const server = await startPostgres(settings, postgres);
    servers.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  };
  try {
    const [coordinator, ...workers] = [await startNode(), await startNode(), await startNode()] as const;
    for (const { url } of servers) await query(url, 'create extension citus');
    await query(coordinator.url, `select citus_set_coordinator_host('127.0.0.1', ${portOf(coordinator)})`);
    for (const worker of workers) await query(coordinator.url, `select citus_add_node('127.0.0.1', ${portOf(worker)})`);
    return { coordinator, workers, startNode, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export const portOf = ({ url }: PostgresServer): string => new URL(url).port;

/** Runs one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
