import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { openStore } from '../../src/storage/open-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { templateDatabase, testRole, urlOf } from './global-setup.ts';
import { makeNewerVersion } from './newer-version.ts';
import { type PoolerOptions, startPooler } from './pooler.ts';
import { runCommand } from './run-command.ts';

/** An empty store of an engine, with what a process of its own needs to open it too. */
export interface TestStore {
  readonly store: Store;
  /** Environment variables that select the same store. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens the same store once more, as another process would. */
  openAgain(): Store;
  close(): Promise<void>;
}

let askedForPostgres: Promise<string> | undefined;

/** URL of a superuser of the PostgreSQL server of this run, which starts when it is first needed. */
export function postgresUrl(): Promise<string> {
  askedForPostgres ??= fetch(inject('postgresStarter')).then(async (response) => {
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  });
  return askedForPostgres;
}

const bothEngines = [
  { engine: 'sqlite', openTestStore: openSqlite },
  { engine: 'postgres', openTestStore: () => openPostgres(testRole) },
] as const;

/**
 * Both engines that every test of the store runs on; PostgreSQL alone in suites that run on an
 * older one once more.
 */
// tests that take one engine by its place do not run there
export const engines = (inject('isPostgresOnly') ? bothEngines.slice(1) : bothEngines) as typeof bothEngines;

/**
 * The engines with the schema of a later version, which this version must be able to work with
 * (docs/decisions/upgrades.md).
 */
export const enginesOfNewerSchema = engines.map(({ engine, openTestStore }) => ({
  engine: `${engine} with the schema of a later version`,
  openTestStore: () => migrateFurther(openTestStore()),
}));

async function migrateFurther(opening: Promise<TestStore>): Promise<TestStore> {
  const opened = await opening;
  const newer = makeNewerVersion({ compatible: true });
  const program = [process.execPath, newer.main] as const;
  const { code, stderr } = await runCommand(['migrate'], { program, environment: opened.environment });
  newer.remove();
  if (code !== 0) throw new Error(`the later version could not migrate: ${stderr}`);
  return opened;
}

/** Tests of the store look at whole tenants, on a machine that may be slow. */
const operationMs = 60_000;

const broken = (error: Error): void => console.error('a pooled connection broke', error.message);

async function openSqlite(): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const open = () =>
    openStore({ databaseUrl: undefined, dataDir: folder, poolSize: 1, operationMs, onConnectionError: broken });
  const store = open();
  await store.migrate();
  return toTestStore(store, open, { DATA_DIR: folder }, async () => rmSync(folder, { recursive: true }));
}

/** PostgreSQL behind a pooler that gives each transaction another session. */
export const pooledPostgres = { engine: 'postgres behind a pooler', openTestStore: () => openPooled() } as const;

/** Also with a pooler that is too old for prepared statements. */
export async function openPooled(options?: PoolerOptions): Promise<TestStore> {
  const pooler = await startPooler(await postgresUrl(), options);
  const opened = await openPostgres(testRole, false, pooler.url);
  return {
    ...opened,
    async close() {
      await opened.close();
      await pooler.close();
    },
  };
}

/**
 * A copy of the migrated database, reached as a role: the ordinary one that owns it, or a
 * superuser; and at the server, or through a pooler.
 */
export async function openPostgres(role: string, empty = false, through?: string): Promise<TestStore> {
  const database = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${database} owner ${testRole}${empty ? '' : ` template ${templateDatabase}`}`);
  const url = urlOf(through ?? (await postgresUrl()), database, role);
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const open = () =>
    openStore({ databaseUrl: url, dataDir: folder, poolSize: 10, operationMs, onConnectionError: broken });
  return toTestStore(open(), open, { DATABASE_URL: url, DATA_DIR: folder }, async () => {
    rmSync(folder, { recursive: true });
    await administer(`drop database ${database} with (force)`);
  });
}

function toTestStore(
  store: Store,
  open: () => Store,
  environment: Record<string, string>,
  remove: () => Promise<void>,
): TestStore {
  const opened = [store];
  return {
    store,
    environment,
    openAgain() {
      const another = open();
      opened.push(another);
      return another;
    },
    async close() {
      for (const each of opened) await each.close();
      await remove();
    },
  };
}

/** Runs a statement as the superuser; copies of one template are made one after another. */
async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: await postgresUrl() });
  await client.connect();
  try {
    // two copies of one template at once would refuse each other
    await client.query('select pg_advisory_lock(1)');
    await client.query(sql);
  } finally {
    await client.end();
  }
}
