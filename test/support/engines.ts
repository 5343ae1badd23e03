import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { DirectorySql, Store } from '../../packages/service/storage/store.ts';
import { allowPooler, createDatabase, dropDatabase } from './databases.ts';
import { drawOne } from './draw.ts';
import { templateDatabase, testRole, urlOf } from './global-setup.ts';
import { makeNewerVersion } from './newer-version.ts';
import { type PoolerOptions, startPooler } from './pooler.ts';
import { runCommand } from './run-command.ts';

/** An empty store of an engine, and the environment for another process to open it. */
export interface TestStore {
  readonly store: Store;
  /** Environment variables that select the same store. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens the same store again, as another process would. */
  openAgain(): Store;
  close(): Promise<void>;
}

/** A store that can be closed without being removed. */
export interface KeptTestStore extends TestStore {
  /** Closes the store wherever it is open in this process. */
  closeStores(): Promise<void>;
}

let startingPostgres: Promise<string> | undefined;

/** URL of a superuser of this run's PostgreSQL server, which starts on first use. */
export function postgresUrl(): Promise<string> {
  startingPostgres ??= fetch(inject('postgresStarter')).then(async (response) => {
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  });
  return startingPostgres;
}

const bothEngines = [
  { engine: 'sqlite', openTestStore: openSqlite },
  { engine: 'postgres', openTestStore: () => openPostgres(testRole) },
] as const;

/**
 * Whether PostgreSQL is a Citus cluster. Its coordinator has no plans, locks and settings of the
 * statements that its workers run.
 */
export const onCluster = inject('isCluster');

/** The engines of store tests; only PostgreSQL in suites that also run on an older version. */
// tests that select one engine by position do not run there
export const engines = (inject('isPostgresOnly') ? bothEngines.slice(1) : bothEngines) as typeof bothEngines;

/**
 * The engines with the schema of a later version, which this version must support
 * (docs/decisions/storage.md#upgrades).
 */
const enginesOfNewerSchema = engines.map(({ engine, openTestStore }) => ({
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

/** Tests of the store read whole tenants, possibly on a slow machine; only a hang takes longer. */
const operationMs = 250_000;

const broken = (error: Error): void => console.error('a pooled connection broke', error.message);

/** An empty store of the embedded engine. */
export async function openSqlite(): Promise<KeptTestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const open = () =>
    openStore({ databaseUrl: undefined, dataDir: folder, poolSize: 1, operationMs, onConnectionError: broken });
  const store = open();
  await store.migrate();
  return toTestStore(store, open, { DATA_DIR: folder }, async () => rmSync(folder, { recursive: true }));
}

/** PostgreSQL behind a pooler that may give each transaction another session. */
export const pooledPostgres = { engine: 'postgres behind a pooler', openTestStore: () => openPooled() } as const;

/**
 * The engines with all that may be between them and the program. An older server alone is tested:
 * the schema of a later version and the pooler do not depend on its version.
 */
export const enginesAndMore = inject('isPostgresOnly')
  ? engines
  : [...engines, ...drawOne([...enginesOfNewerSchema, pooledPostgres], import.meta.url)];

/** Opens PostgreSQL behind a pooler, which may be too old for prepared statements. */
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
 * Opens a copy of the migrated database as a role (the owner, or a superuser), directly or through
 * a pooler.
 */
export async function openPostgres(role: string, empty = false, through?: string): Promise<KeptTestStore> {
  const database = `test_${randomBytes(6).toString('hex')}`;
  const server = await postgresUrl();
  await createDatabase(server, database, { owner: testRole, ...(!empty && { template: templateDatabase }) });
  if (through !== undefined) await allowPooler(server, database, role);
  const url = urlOf(through ?? server, database, role);
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const open = () =>
    openStore({ databaseUrl: url, dataDir: folder, poolSize: 10, operationMs, onConnectionError: broken });
  const opened = toTestStore(open(), open, { DATABASE_URL: url, DATA_DIR: folder }, async () => {
    rmSync(folder, { recursive: true });
    await dropDatabase(server, database);
  });
  if (through !== undefined) return opened;
  return { ...opened, close: () => checkPrepared(opened.store).finally(opened.close) };
}

function toTestStore(
  store: Store,
  open: () => Store,
  environment: Record<string, string>,
  remove: () => Promise<void>,
): KeptTestStore {
  const opened = [store];
  const closeStores = async (): Promise<void> => {
    for (const each of opened.splice(0)) await each.close();
  };
  return {
    store,
    environment,
    openAgain() {
      const another = open();
      opened.push(another);
      return another;
    },
    closeStores,
    async close() {
      await closeStores();
      await remove();
    },
  };
}

const ofFourBytes =
  "select distinct statement from pg_prepared_statements where 'integer'::regtype = any(parameter_types)" as DirectorySql<string>;

/**
 * Throws if a statement that the store has prepared takes an integer of 32 bits. PostgreSQL chooses
 * one for a parameter that it first sees beside a small number, and then refuses revisions as they
 * are after a restore, and times after 2038.
 */
async function checkPrepared(store: Store): Promise<void> {
  const answers = await Promise.all([1, 2].map(() => store.readDirectory(ofFourBytes)));
  const found = answers.flat().map(({ statement }) => statement);
  if (found.length > 0) throw new Error(`cast($n as bigint) is missing beside a small number in: ${found.join('\n')}`);
}
