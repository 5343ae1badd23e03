import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StorageError } from '../error.ts';
import { deferredIndexes, recordIndexes } from '../record-indexes.ts';
import type { DeferredIndexes } from '../store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { begin } from './change-sql.ts';
import { close, connect, createDedicatedClient } from './connect.ts';
import { appliedMigrations, hasCitus, missingIndexes } from './database-facts.ts';
import { isBusy } from './error.ts';
import { noTimeLimit } from './session.ts';
import { inTransaction } from './statements.ts';

// The indexes of the records on PostgreSQL, which a first load leaves out until it ends. Each such
// load holds an advisory lock in shared mode; a process that builds indexes takes it in exclusive
// mode.

/** The database, and a function that runs work on a connection of its own. */
interface Database {
  readonly url: string;
  readonly connections: { useUnbounded<T>(work: (client: pg.Client) => Promise<T>): Promise<T> };
}

/** How long one attempt waits for the table, in milliseconds: other writers queue behind it. */
const lockMs = 500;
const pauseMs = 1_000;
/** Attempts to lock the table, which a replacement can hold for minutes. */
const attemptsMax = 600;

/** A sort in memory; an index of a million records takes about 100 MB. */
const buildSettings = "set local maintenance_work_mem = '256MB'; set local max_parallel_maintenance_workers = 0";

/** Whether a load can go without indexes: there are no records, or an interrupted load has. */
export const canDefer = async (client: pg.ClientBase): Promise<boolean> =>
  (await mayChange(client)) && ((await isEmpty(client)) || (await missingIndexes(client)).length > 0);

/** Whether indexes are missing that this role can build. */
export const canBuild = async (client: pg.ClientBase): Promise<boolean> =>
  (await missingIndexes(client)).length > 0 && (await mayChange(client));

/** Begins a first load; `undefined` if the role or the database cannot, or if there are records. */
export async function deferOnPostgres(database: Database): Promise<DeferredIndexes | undefined> {
  const { url, connections } = database;
  const holder = createDedicatedClient(url, { name: 'subreport-first-load', keepAlive: true });
  try {
    await connect(holder, url);
  } catch (error) {
    if (error instanceof StorageError) return undefined; // perhaps no connection is free
    throw error;
  }
  const release = async (): Promise<void> => {
    await holder.query('commit').catch(() => undefined); // closing the connection releases it, too
    await close(holder);
  };
  try {
    await holder.query(`${begin}; ${noTimeLimit}`);
    const { rows } = await holder.query(`select pg_try_advisory_xact_lock_shared(${advisoryLocks.firstLoad}) as taken`);
    if (rows[0]?.taken === true && (await connections.useUnbounded(dropOrJoin)))
      return { build: (waits) => release().then(() => buildOnPostgres(database, { waits })) };
  } catch (error) {
    await release();
    if (isBusy(error)) return undefined;
    throw error;
  }
  await release();
  return undefined;
}

/** Drops indexes of an empty table, or joins a load that has. */
async function dropOrJoin(client: pg.Client): Promise<boolean> {
  if (!(await mayChange(client))) return false;
  if (!(await isEmpty(client))) return (await missingIndexes(client)).length > 0;
  return inTransaction(client, [client.query(`${begin}; set local lock_timeout = ${lockMs}`)], async () => {
    await client.query('lock table subscription in access exclusive mode');
    if (!(await isEmpty(client))) return false;
    const names = deferredIndexes(recordIndexes('postgres', await appliedMigrations(client)));
    if (names.length > 0) await client.query(`drop index if exists ${names.join(', ')}`);
    return names.length > 0;
  });
}

/** Whether the role owns the table, and the table is on this server. */
async function mayChange(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `select pg_has_role(relowner, 'usage') as owns from pg_class where oid = to_regclass('subscription')`,
  );
  return rows[0]?.owns === true && !(await hasCitus(client));
}

/** Row-level security hides rows, but not the size of the table. */
async function isEmpty(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`select pg_relation_size('subscription') = 0 as empty`);
  return rows[0]?.empty === true;
}

/**
 * Builds the missing indexes. While a load goes without them, or another process builds them, it
 * leaves them to that one, or waits for its end if `waits`: a load that left indexes out must not
 * end before they exist, as the other one may be killed.
 */
export async function buildOnPostgres(
  { connections }: Database,
  { onStart, waits = false }: { onStart?: ((names: readonly string[]) => void) | undefined; waits?: boolean } = {},
): Promise<void> {
  await connections.useUnbounded(async (client) => {
    let hasStarted = false;
    for (;;) {
      const missing = (await mayChange(client)) ? await missingIndexes(client) : [];
      const start = (): void => {
        if (!hasStarted) onStart?.(missing.map(({ name }) => name));
        hasStarted = true;
      };
      let isFree = true;
      for (const { sql } of missing) isFree = isFree && (await buildOne(client, sql, start));
      if (missing.length === 0 || !(isFree || waits)) return;
      if (!isFree) await sleep(pauseMs);
    }
  });
}

/** Builds an index; returns `false` if a load, or another process that builds, has the lock. */
async function buildOne(client: pg.Client, sql: string, onLocked: () => void): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const opening = [begin, noTimeLimit, `set local lock_timeout = ${lockMs}`, buildSettings];
      return await inTransaction(
        client,
        opening.map((text) => client.query(text)),
        async () => {
          const { rows } = await client.query(`select pg_try_advisory_xact_lock(${advisoryLocks.firstLoad}) as taken`);
          if (rows[0]?.taken !== true) return false;
          onLocked();
          await client.query(sql);
          return true;
        },
      );
    } catch (error) {
      await client.query('rollback');
      if (!isBusy(error) || attempt === attemptsMax) throw error;
      await sleep(pauseMs);
    }
  }
}
