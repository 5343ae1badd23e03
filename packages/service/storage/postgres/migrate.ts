import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { migrationMsMax } from '../deadline.ts';
import { StorageError } from '../error.ts';
import { listMigrations, pendingMigrations, recordMigration } from '../migrations.ts';
import type { MigrationResult } from '../store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import {
  appliedMigrations,
  bypassesRowSecurity,
  hasCitus,
  missingOnWorkers,
  requireUtf8,
  roleOfTenants,
  sessionRole,
} from './database-facts.ts';
import { isBusy } from './error.ts';
import { noTimeLimit, tenantRole } from './session.ts';
import { inTransaction } from './statements.ts';

/**
 * Time limit of one attempt to lock a table, in milliseconds. Requests queue behind it meanwhile;
 * the server checks for deadlocks only after 1 s.
 */
const lockMs = 500;
const pauseMs = 1_000;
/** Internal errors in a row after which an attempt is not repeated. */
const internalErrorsMax = 5;

/**
 * Brings the schema up to date in one transaction. An attempt that cannot lock a table is abandoned
 * and retried, so that requests continue while an export or an import uses the table. Throws
 * `StorageError` `BUSY` after 10 minutes.
 */
export async function migratePostgres(client: pg.ClientBase): Promise<MigrationResult> {
  await requireUtf8(client);
  const distributed = await hasCitus(client);
  if (distributed) await requireCoordinator(client);
  const deadline = performance.now() + migrationMsMax;
  await repeatedly(client, deadline, () => prepareRoles(client, distributed));
  try {
    return await repeatedly(client, deadline, () => migrateOnce(client, distributed));
  } catch (error) {
    if ((error as { code?: unknown }).code === insufficientPrivilege) throw await requireOwner(client, error);
    throw error;
  }
}

/**
 * Runs a transaction under the migration lock, again while another session is in its way. On a
 * Citus cluster, a worker may still run what a migration that was killed has sent: it then reports
 * an internal error.
 */
async function repeatedly<T>(client: pg.ClientBase, deadline: number, work: () => Promise<T>): Promise<T> {
  for (let internalErrors = 0; ; ) {
    try {
      return await underLock(client, work);
    } catch (error) {
      if ((error as { code?: unknown }).code === internalError) internalErrors += 1;
      else if (isBusy(error)) internalErrors = 0;
      else throw error;
      if (internalErrors > internalErrorsMax) throw error;
      await client.query('rollback');
      if (performance.now() > deadline)
        throw new StorageError(
          'BUSY',
          `Cannot migrate: each table to change must be free for ${lockMs} ms within 10 minutes: current value is a table in use by an export, an import or another transaction; run 'subreport migrate' when there are none`,
          error,
        );
      await sleep(pauseMs);
    }
  }
}

/**
 * Runs a transaction while holding the migration lock of the database; waits for it without a
 * limit.
 */
const underLock = <T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> =>
  inTransaction(client, [client.query('begin'), client.query(noTimeLimit)], async () => {
    await client.query(`select pg_advisory_xact_lock(${advisoryLocks.migration})`);
    return work();
  });

/** SQLSTATE of a statement that the role may not run. */
const insufficientPrivilege = '42501';
/** SQLSTATE of an internal error, such as 'tuple concurrently updated'. */
const internalError = 'XX000';

async function requireOwner(client: pg.ClientBase, cause: unknown): Promise<StorageError> {
  await client.query('rollback');
  const role = await sessionRole(client);
  const isNew = (await appliedMigrations(client)).length === 0;
  const [rule, remedy] = isNew
    ? ['be allowed to create tables', 'make it the owner of the database, or grant it create and usage on the schema']
    : ['own the tables', "run 'subreport migrate' as their owner, and set MIGRATE_ON_START=false for all other roles"];
  return new StorageError(
    'UNUSABLE',
    `Cannot migrate: the role of DATABASE_URL must ${rule}: current value is '${role}'; ${remedy} (docs/operators/operating.md, Roles)`,
    cause,
  );
}

/**
 * Runs in a separate transaction: Citus refuses to create a role after statements on several
 * shards.
 */
async function prepareRoles(client: pg.ClientBase, distributed: boolean): Promise<void> {
  if (await bypassesRowSecurity(client)) await createTenantRole(client);
  if (!distributed) return;
  for (const statement of await missingOnWorkers(client, await roleOfTenants(client))) await client.query(statement);
}

async function migrateOnce(client: pg.ClientBase, distributed: boolean): Promise<MigrationResult> {
  const known = listMigrations('postgres');
  await client.query(`set local lock_timeout = ${lockMs}`);
  if (distributed) await client.query(oneShardAtATime);
  await client.query(createMigrationTable);
  const pending = pendingMigrations(known, await appliedMigrations(client));
  const isChange = pending.length > 0 && pending.length < known.length;
  if (isChange && !distributed) await client.query(lockWriters);
  for (const migration of pending) {
    for (const statement of migration.statements) await client.query(statement);
    const [sql, values] = recordMigration(migration);
    await client.query(sql, values);
  }
  if (await bypassesRowSecurity(client)) await grantToTenantRole(client);
  return { applied: pending.map(({ name }) => name), current: known.at(-1)?.name ?? '' };
}

/**
 * Each write of records locks its tenant first. Taking this lock first ensures that no writer holds
 * a table that a migration needs; reads continue.
 */
const lockWriters = 'lock table tenant in exclusive mode';

/**
 * For Citus, which otherwise changes the shards of a table in parallel, and then refuses to create
 * functions or tables in the same transaction.
 */
const oneShardAtATime = "set local citus.multi_shard_modify_mode to 'sequential'";

const createMigrationTable = `create table if not exists schema_migration
  (name text collate "C" not null primary key, checksum text not null, oldest_schema text collate "C" not null)`;

/**
 * Throws `StorageError` `UNUSABLE` on a worker: tables can only be created and distributed on the
 * coordinator.
 */
async function requireCoordinator(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('select citus_is_coordinator() as coordinator');
  if (rows[0]?.coordinator === true) return;
  throw new StorageError(
    'UNUSABLE',
    'Cannot migrate: DATABASE_URL must be the coordinator of the Citus cluster, with its nodes registered (docs/operators/citus.md): current value is a worker, or a node without registered nodes',
  );
}

/**
 * Creates `tenantRole` unless it exists. Roles belong to the whole cluster, so another database's
 * migration may create it at the same time.
 */
async function createTenantRole(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(createRole);
  } catch (error) {
    throw new StorageError(
      'UNUSABLE',
      `Cannot use DATABASE_URL: its role has BYPASSRLS and may not create the role ${tenantRole}, which its transactions must switch to; connect as an ordinary role that owns the database`,
      error,
    );
  }
  await client.query(`grant ${tenantRole} to current_user`);
}

/** Grants `tenantRole` only what a tenant's transaction needs. */
async function grantToTenantRole(client: pg.ClientBase): Promise<void> {
  await client.query(
    `grant select, insert, update, delete on subscription, subscription_span, subscription_tombstone, subscription_version, subscription_commit, subscription_erasure, import_rejection to ${tenantRole}`,
  );
  await client.query(`grant select, update on tenant to ${tenantRole}`);
}

const createRole = `do $$ begin
  if not exists (select 1 from pg_roles where rolname = '${tenantRole}') then
    create role ${tenantRole} nologin;
  end if;
exception when duplicate_object or unique_violation then
  null;
end $$`;
