import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/storage/open-store.ts';
import { startPostgres } from '../../tools/postgres-server.ts';
import { compileCache } from './compile-cache.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a superuser of the PostgreSQL server of this run. */
    readonly postgresUrl: string;
    /** Whether suites run on PostgreSQL only, as another project runs them on SQLite. */
    readonly isPostgresOnly: boolean;
  }
}

/** The ordinary role that tests connect as, and the migrated database that theirs are copies of. */
export const testRole = 'subreport_test';
export const templateDatabase = 'subreport_template';

/**
 * Starts one PostgreSQL for all suites of a project, or takes the one of `TEST_DATABASE_URL` (a
 * superuser's), and prepares the database to copy.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // for the threads that stores start in the processes of the tests
  Object.assign(process.env, compileCache);
  const isOldest = project.name === 'postgres 15';
  const given = isOldest ? undefined : process.env.TEST_DATABASE_URL;
  const server = given === undefined ? await startPostgres([], isOldest ? 15 : 18) : undefined;
  const url = server?.url ?? given ?? '';
  await prepareTemplate(url);
  project.provide('postgresUrl', url);
  project.provide('isPostgresOnly', isOldest);
  return async () => {
    await server?.stop();
  };
}

async function prepareTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select 1 from pg_roles where rolname = $1', [testRole]);
  if (rows.length === 0) await client.query(`create role ${testRole} login`);
  await client.query(`drop database if exists ${templateDatabase}`);
  await client.query(`create database ${templateDatabase} owner ${testRole}`);
  await client.end();
  const store = openStore({
    databaseUrl: urlOf(url, templateDatabase, testRole),
    dataDir: '',
    poolSize: 1,
    onConnectionError: () => undefined,
  });
  await store.migrate();
  await store.close();
}

/** The URL of another database and role of the same server. */
export function urlOf(url: string, database: string, role: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  other.username = role;
  other.password = '';
  return other.href;
}
