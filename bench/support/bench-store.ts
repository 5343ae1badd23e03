import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store } from '../../packages/service/storage/store.ts';
import { query } from '../../test/citus/start-cluster.ts';
import { createDatabase, createRole } from '../../test/support/databases.ts';
import { startPostgres } from '../../tools/postgres-server.ts';

/** A migrated, empty store, and the settings that select it. */
export interface BenchStore {
  readonly store: Store;
  readonly environment: Readonly<Record<string, string>>;
  /** Directory of the store. */
  readonly folder: string;
  /** Process id of the PostgreSQL server, if there is one. */
  readonly serverPid?: number;
  /** Runs a statement as the superuser; on PostgreSQL only. */
  administer(sql: string): Promise<void>;
  close(): Promise<void>;
}

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

/** A PostgreSQL server started for it, with a database of an ordinary role. */
export async function openBenchPostgres(): Promise<BenchStore> {
  const server = await startPostgres();
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
    administer: async (sql) => void (await query(server.url.replace(/[^/]+$/, 'bench'), sql)),
    async close() {
      await store.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
