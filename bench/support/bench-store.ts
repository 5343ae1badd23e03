import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store } from '../../packages/service/storage/store.ts';
import { startPostgres } from '../../tools/postgres-server.ts';

/** A migrated, empty store, and the settings that select it. */
export interface BenchStore {
  readonly store: Store;
  readonly environment: Readonly<Record<string, string>>;
  /** Directory of the store. */
  readonly folder: string;
  /** Process id of the PostgreSQL server, if there is one. */
  readonly serverPid?: number;
  /** Runs statements as the superuser; on PostgreSQL only. */
  administer(sql: string): Promise<void>;
  close(): Promise<void>;
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

/** A database of an ordinary role, in a PostgreSQL server started for it. */
export async function openBenchPostgres(): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-'));
  const server = await startPostgres();
  const runAt = async (url: string, ...statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  };
  await runAt(server.url, 'create role subreport_bench login', 'create database bench owner subreport_bench');
  const database = new URL(server.url);
  database.pathname = '/bench';
  const own = new URL(database);
  own.username = 'subreport_bench';
  const store = openStore({
    databaseUrl: own.href,
    dataDir: folder,
    poolSize: 2,
    onConnectionError: failOnBroken,
  });
  await store.migrate();
  return {
    store,
    environment: { DATA_DIR: folder, DATABASE_URL: own.href },
    folder,
    serverPid: server.pid,
    administer: (sql) => runAt(database.href, sql),
    async close() {
      await store.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The environment of an empty store of the same engine. */
export async function emptyStore(
  { environment, administer }: BenchStore,
  folder: string,
): Promise<BenchStore['environment']> {
  const empty = { ...environment, DATA_DIR: join(folder, 'restored') };
  if (environment.DATABASE_URL === undefined) return empty;
  await administer('drop database if exists restored');
  await administer('create database restored owner subreport_bench');
  return { ...empty, DATABASE_URL: environment.DATABASE_URL.replace(/[^/]+$/, 'restored') };
}
