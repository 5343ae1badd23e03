import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { deferredIndexes, recordIndexes } from '../record-indexes.ts';
import type { DeferredIndexes } from '../store.ts';
import { begin } from './change-sql.ts';
import { hasCitus } from './citus.ts';
import { close, connect, createDedicatedClient } from './connect.ts';
import { isBusy } from './error.ts';
import { appliedMigrations, missingIndexes } from './schema.ts';
import { noTimeLimit } from './session.ts';
import { inTransaction } from './transaction.ts';

// The indexes of the records on PostgreSQL, which a first load leaves out until it ends. Each such
// load holds an advisory lock in shared mode; whoever builds indexes takes it in exclusive mode.

/** Runs work on a connection of its own. */
type Use = <T>(work: (client: pg.Client) => Promise<T>) => Promise<T>;

/** The advisory lock of first loads; nothing else in the database uses this number. */
const firstLoadLock = 7_236_119_411;

/** How long one attempt waits for the table, in milliseconds: other writers queue behind it. */
const lockMs = 500;
const pauseMs = 1_000;
/** Attempts to lock the table, which a replacement can hold for minutes. */
const attemptsMax = 600;

/** A sort in memory; an index of a million records takes about 100 MB. */
const buildSettings = "set local maintenance_work_mem = '256MB'; set local max_parallel_maintenance_workers = 0";

/** Begins a first load; `undefined` if the role or the database cannot, or if there are records. */
export async function deferOnPostgres(url: string, use: Use): Promise<DeferredIndexes | undefined> {
  const holder = createDedicatedClient(url, { name: 'subreport-first-load', keepAlive: true });
  await connect(holder, url);
  const release = async (): Promise<void> => {
    await holder.query('commit').catch(() => undefined); // closing the connection releases it, too
    await close(holder);
  };
  try {
    await holder.query(`${begin}; ${noTimeLimit}`);
    const { rows } = await holder.query(`select pg_try_advisory_xact_lock_shared(${firstLoadLock}) as taken`);
    if (rows[0]?.taken === true && (await use(dropOrJoin)))
      return { build: () => release().then(() => buildOnPostgres(use)) };
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
async function mayChange(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `select pg_has_role(relowner, 'usage') as owns from pg_class where oid = to_regclass('subscription')`,
  );
  return rows[0]?.owns === true && !(await hasCitus(client));
}

/** Row-level security hides rows, but not the size of the table. */
async function isEmpty(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`select pg_relation_size('subscription') = 0 as empty`);
  return rows[0]?.empty === true;
}

/** Builds the missing indexes, unless a load goes without them now. */
export async function buildOnPostgres(
  use: Use,
  onStart: (names: readonly string[]) => void = () => undefined,
): Promise<void> {
  await use(async (client) => {
    const missing = (await mayChange(client)) ? await missingIndexes(client) : [];
    for (const [number, { sql }] of missing.entries())
      await buildOne(client, sql, () => number === 0 && onStart(missing.map(({ name }) => name)));
  });
}

async function buildOne(client: pg.Client, sql: string, onLocked: () => void): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const opening = [begin, noTimeLimit, `set local lock_timeout = ${lockMs}`, buildSettings];
      return await inTransaction(
        client,
        opening.map((text) => client.query(text)),
        async () => {
          const { rows } = await client.query(`select pg_try_advisory_xact_lock(${firstLoadLock}) as taken`);
          if (rows[0]?.taken !== true) return;
          onLocked();
          await client.query(sql);
        },
      );
    } catch (error) {
      await client.query('rollback');
      if (!isBusy(error) || attempt === attemptsMax) throw error;
      await sleep(pauseMs);
    }
  }
}
