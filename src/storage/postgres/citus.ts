import pg from 'pg';
import { StorageError } from '../error.ts';
import { plannerOptions } from './session.ts';

// Support for the Citus extension (docs/citus.md). On plain PostgreSQL none of it runs.

/** Whether the database is part of a Citus cluster. */
export async function hasCitus(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query("select exists (select 1 from pg_extension where extname = 'citus') as found");
  return rows[0]?.found === true;
}

/**
 * Throws `StorageError` `UNUSABLE` on a worker: tables can only be created and distributed on the
 * coordinator.
 */
export async function requireCoordinator(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('select citus_is_coordinator() as coordinator');
  if (rows[0]?.coordinator === true) return;
  throw new StorageError(
    'UNUSABLE',
    'Cannot migrate: DATABASE_URL must be the coordinator of the Citus cluster, with its nodes registered (docs/citus.md): current value is a worker, or a node without registered nodes',
  );
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
