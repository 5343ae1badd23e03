import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { buildConsoles, consolesFolder } from '../../tools/build-console.ts';
import { startPostgres } from '../../tools/postgres-server.ts';
import { bundleProgram } from './bundle-program.ts';
import { compileCache } from './compile-cache.ts';
import { createDatabase, createRole, dropDatabase, nodesOf, sealTemplate } from './databases.ts';
import { useMemoryFolder } from './memory-folder.ts';
import { oldestPostgres } from './oldest-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Responds with the URL of the PostgreSQL server, and starts the server on the first request.
     */
    readonly postgresStarter: string;
    /** Whether suites run on PostgreSQL only, because another project runs them on SQLite. */
    readonly isPostgresOnly: boolean;
    /** Whether the server coordinates a Citus cluster. */
    readonly isCluster: boolean;
  }
}

/** The ordinary role that tests connect as, and the migrated database that they copy. */
export const testRole = 'subreport_test';
export const templateDatabase = 'subreport_template';

/** Offers one PostgreSQL server to all suites of a project. It starts on the first request. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  useMemoryFolder();
  // for threads that stores start in the test processes
  Object.assign(process.env, compileCache);
  if (process.env.TEST_PROGRAM === undefined) {
    skipPythonManager();
    const [program] = await Promise.all([bundleProgram(), buildConsoles(consolesFolder)]);
    process.env.TEST_PROGRAM = program;
  }
  const isOldest = project.name === 'postgres 15';
  let starting: Promise<TestServer> | undefined;
  const starter = createServer(async (_request, response) => {
    starting ??= isOldest ? startServer(oldestPostgres) : findServer();
    const { url, error } = await starting.catch((error: unknown) => ({ url: '', error: String(error) }));
    response.writeHead(error === undefined ? 200 : 500).end(error ?? url);
  });
  await once(starter.listen(0, '127.0.0.1'), 'listening');
  project.provide('postgresStarter', `http://127.0.0.1:${(starter.address() as AddressInfo).port}`);
  project.provide('isPostgresOnly', isOldest);
  const given = isOldest ? undefined : process.env.TEST_DATABASE_URL;
  project.provide('isCluster', given !== undefined && (await nodesOf(given)).length > 1);
  return async () => {
    starter.close();
    starter.closeAllConnections();
    const server = await starting?.catch(() => undefined);
    await server?.stop();
  };
}

/**
 * Lets tests start the Python of a version manager such as pyenv without its shell script, which
 * takes 0.14 s of CPU time, 14 times as long as Python.
 */
function skipPythonManager(): void {
  const { stdout, status } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  if (status !== 0 || process.platform === 'win32') return;
  const folder = mkdtempSync(join(tmpdir(), 'subreport-python-'));
  symlinkSync(stdout.trim(), join(folder, 'python3'));
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** The PostgreSQL server of a run. */
interface TestServer {
  readonly url: string;
  readonly error?: undefined;
  stop(): Promise<void>;
}

/** The server of `TEST_DATABASE_URL`, whose user is a superuser, or a new one. */
async function findServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) return startServer();
  await prepareTemplate(url);
  return { url, stop: async () => undefined };
}

async function startServer(installed?: string): Promise<TestServer> {
  // tests that need statistics, or vacuumed rows, request them explicitly
  const server = await startPostgres(['autovacuum=off', 'jit=off', 'full_page_writes=off'], installed);
  await prepareTemplate(server.url);
  return server;
}

async function prepareTemplate(url: string): Promise<void> {
  await createRole(url, testRole);
  await dropDatabase(url, templateDatabase);
  await createDatabase(url, templateDatabase, { owner: testRole });
  const store = openStore({
    databaseUrl: urlOf(url, templateDatabase, testRole),
    dataDir: '',
    poolSize: 1,
    onConnectionError: () => undefined,
  });
  await store.migrate();
  await store.close();
  await sealTemplate(url, templateDatabase);
}

/** The URL of another database and role on the same server. */
export function urlOf(url: string, database: string, role: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  other.username = role;
  other.password = '';
  return other.href;
}
