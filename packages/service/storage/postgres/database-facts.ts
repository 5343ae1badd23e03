import pg from 'pg';
import { StorageError } from '../error.ts';
import { type AppliedMigration, requireMigrated, selectMigrations, toAppliedMigration } from '../migrations.ts';
import { plannerOptions, tenantRole } from './session.ts';

/**
 * Whether the role we connect as bypasses row-level security: a superuser, or one with BYPASSRLS.
 */
export async function bypassesRowSecurity(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = session_user',
  );
  return rows[0]?.bypasses === true;
}

/** The role that we connect as. */
export async function sessionRole(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query('select session_user as role');
  return String(rows[0]?.role);
}

export const roleOfTenants = async (client: pg.ClientBase): Promise<string> =>
  (await bypassesRowSecurity(client)) ? tenantRole : sessionRole(client);

/** Whether the database is part of a Citus cluster. */
export async function hasCitus(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query("select exists (select 1 from pg_extension where extname = 'citus') as found");
  return rows[0]?.found === true;
}

/**
 * The statements needed to give a role the same settings on the workers as on the coordinator.
 * Citus connects to a worker as the role of the transaction and propagates settings of the role,
 * but not of the session.
 */
export async function missingOnWorkers(client: pg.ClientBase, role: string): Promise<readonly string[]> {
  const { rows } = await client.query(roleState, [role]);
  const [{ canLogin, settings } = { canLogin: false, settings: [] as string[] }] = rows;
  const missing = plannerOptions.filter((option) => !settings.includes(option)).map((option) => `set ${option}`);
  return [...(canLogin ? [] : ['login']), ...missing].map((what) => `alter role ${pg.escapeIdentifier(role)} ${what}`);
}

const roleState = `select rolcanlogin as "canLogin",
    coalesce((select setconfig from pg_db_role_setting where setrole = r.oid and setdatabase = 0), '{}') as settings
  from pg_roles as r where rolname = $1`;

/**
 * Throws `StorageError` `UNUSABLE` unless the database stores every character: one in another
 * encoding would fail within an import, at the first character that it lacks.
 */
export async function requireUtf8(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query("select current_setting('server_encoding') as encoding");
  const encoding = String(rows[0]?.encoding);
  if (encoding === 'UTF8') return;
  throw new StorageError(
    'UNUSABLE',
    `Cannot use the database of DATABASE_URL: its encoding must be UTF8: current value is ${encoding}; create another one with: create database … encoding 'UTF8' template template0`,
  );
}

/** The migrations that the database has applied; none if it was never migrated. */
export async function appliedMigrations(client: pg.ClientBase): Promise<AppliedMigration[]> {
  const table = await client.query("select to_regclass('schema_migration') is not null as found");
  if (table.rows[0]?.found !== true) return [];
  const { rows } = await client.query(selectMigrations);
  return rows.map(toAppliedMigration);
}

/** Throws `StorageError` `UNUSABLE` unless this version can work with the database. */
export async function requireUsable(client: pg.ClientBase): Promise<void> {
  await requireUtf8(client);
  requireMigrated('postgres', await appliedMigrations(client), 'the database');
}
