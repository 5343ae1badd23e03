import type pg from 'pg';
import {
  type AppliedMigration,
  listMigrations,
  pendingMigrations,
  recordMigration,
  selectMigrations,
  toAppliedMigration,
} from './migrations.ts';
import { hasCitus, prepareForWorkers, requireCoordinator } from './postgres-citus.ts';
import { bypassesRowSecurity, ensureTenantRole, sessionRole, tenantRole } from './postgres-role.ts';
import type { MigrationResult } from './store.ts';

/** Brings the schema to what this version needs, inside a transaction and under a lock that it holds to its end. */
export async function migratePostgres(client: pg.ClientBase): Promise<MigrationResult> {
  const known = listMigrations('postgres');
  await client.query(`select pg_advisory_xact_lock(${migrationLock})`);
  const distributed = await hasCitus(client);
  if (distributed) await requireCoordinator(client);
  await client.query(createMigrationTable);
  const pending = pendingMigrations(known, await appliedMigrations(client));
  for (const migration of pending) {
    for (const statement of migration.statements) await client.query(statement);
    const [sql, values] = recordMigration(migration);
    await client.query(sql, values);
  }
  const stepsDown = await bypassesRowSecurity(client);
  if (stepsDown) await ensureTenantRole(client);
  if (distributed) await prepareForWorkers(client, stepsDown ? tenantRole : await sessionRole(client));
  return { applied: pending.map(({ name }) => name), current: known.at(-1)?.name ?? '' };
}

/** The migrations that the database has applied; none when it never had one. */
export async function appliedMigrations(client: pg.ClientBase): Promise<AppliedMigration[]> {
  const table = await client.query("select to_regclass('schema_migration') is not null as found");
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await client.query(selectMigrations);
  return rows.map(toAppliedMigration);
}

/** Any number that nothing else in the database takes an advisory lock on. */
const migrationLock = 7_236_119_410;

const createMigrationTable = `create table if not exists schema_migration
  (name text collate "C" not null primary key, checksum text not null)`;
