import type pg from 'pg';
import { operationMsDefault } from '../deadline.ts';
import { checkObjects } from '../migrations.ts';
import type { StoreCheck } from '../store.ts';
import {
  appliedMigrations,
  bypassesRowSecurity,
  hasCitus,
  missingOnWorkers,
  roleOfTenants,
  sessionRole,
} from './database-facts.ts';
import { plannerOptions, serverTimeouts, tenantRole } from './session.ts';

/** Checks indexes, triggers and policies, and the role and the session that we connect with. */
export async function examinePostgres(client: pg.ClientBase): Promise<readonly StoreCheck[]> {
  const checks = [
    ...(await checkNames(client)),
    await checkTables(client),
    await checkRole(client),
    await checkOptions(client),
  ];
  return (await hasCitus(client)) ? [...checks, await checkWorkers(client)] : checks;
}

async function checkNames(client: pg.ClientBase): Promise<readonly StoreCheck[]> {
  const { rows } = await client.query(selectNames);
  const names = rows.map(({ name }) => String(name));
  return checkObjects('postgres', await appliedMigrations(client), names);
}

/** Indexes, and triggers that are not disabled. */
const selectNames = `select relname as name from pg_class where relkind in ('i', 'I') and relnamespace = current_schema()::regnamespace
  union select tgname from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
    where tgenabled <> 'D' and not tgisinternal and relnamespace = current_schema()::regnamespace`;

/**
 * Checks the start-up options of connections: a pooler ignores them, so the role must have them.
 */
async function checkOptions(client: pg.ClientBase): Promise<StoreCheck> {
  const check = 'options';
  const { rows } = await client.query(
    `select name from pg_settings where name = any($1) and setting <> 'off' or name = any($2) and setting = '0' order by name`,
    [plannerOptions.map((option) => option.split('=', 1)[0]), Object.keys(serverTimeouts(operationMsDefault))],
  );
  if (rows.length === 0) return { check, ok: true, message: 'The session parameters are in effect' };
  const names = rows.map(({ name }) => name).join(', ');
  const message = `Cannot rely on the session parameters: the pooler in DATABASE_URL must forward them, or the role must have them: not in effect are ${names}; set them with: alter role … set … (docs/operators/operating.md, Poolers)`;
  return { check, ok: false, message };
}

async function checkTables(client: pg.ClientBase): Promise<StoreCheck> {
  const { rows } = await client.query(selectOpenTables);
  const [open, lax] = ['is_open', 'is_lax'].map((fault) =>
    rows.flatMap(({ relname, [fault]: hasFault }) => (hasFault ? [relname] : [])).join(', '),
  );
  const problem =
    open !== ''
      ? `row-level security must be enabled and forced on ${open}; restore it with: alter table … enable row level security, force row level security`
      : `each table must have its policy alone, as the migrations created it: current value is another one on ${lax}; drop what was added, or restore a backup`;
  const ok = rows.length === 0;
  const message = ok
    ? 'Row-level security is forced on the tables of tenants'
    : `Cannot keep tenants apart: ${problem}`;
  return { check: 'row-level security', ok, message };
}

/** Tables of tenants without forced row-level security, or with other policies than their own. */
const selectOpenTables = `select relname, is_open, is_lax from (
    select relname, not (relrowsecurity and relforcerowsecurity) as is_open, coalesce((
      select count(*) <> 1 or bool_or(pg_get_expr(polqual, polrelid) not like '(tenant_id = %current_setting(''app.tenant''%'
        or pg_get_expr(polwithcheck, polrelid) not like '(tenant_id = %current_setting(''app.tenant''%')
      from pg_policy where polrelid = t.oid
    ), true) as is_lax
    from pg_class as t where relname in ('subscription', 'subscription_span', 'subscription_tombstone',
      'subscription_version', 'subscription_commit', 'subscription_erasure', 'import_rejection') and relkind in ('r', 'p')
      and relnamespace = current_schema()::regnamespace
  ) as checked where is_open or is_lax order by relname`;

const selectStaging =
  "select current_database() as name, has_database_privilege(current_database(), 'temporary') as stages";

async function checkRole(client: pg.ClientBase): Promise<StoreCheck> {
  const check = 'role';
  const role = await sessionRole(client);
  const [here] = (await client.query(selectStaging)).rows;
  if (here?.stages !== true) {
    const message = `Cannot stage replacements and strict loads as ${role}: it must be allowed to create temporary tables; run: grant temporary on database ${here?.name} to ${role}`;
    return { check, ok: false, message };
  }
  if (!(await bypassesRowSecurity(client)))
    return { check, ok: true, message: `Role ${role} is held to row-level security` };
  const { rows: lower } = await client.query(
    `select rolsuper or rolbypassrls as bypasses, pg_has_role(session_user, oid, 'member') as member from pg_roles where rolname = $1`,
    [tenantRole],
  );
  const ok = lower[0]?.bypasses === false && lower[0]?.member === true;
  const message = ok
    ? `Role ${role} bypasses row-level security; its transactions switch to ${tenantRole}`
    : `Cannot keep tenants apart as ${role}, which bypasses row-level security: there must be a role ${tenantRole} without that right to switch to; run 'subreport migrate', or connect as an ordinary role`;
  return { check, ok, message };
}

/** Checks that transactions of tenants run on Citus workers as they do on the coordinator. */
async function checkWorkers(client: pg.ClientBase): Promise<StoreCheck> {
  const role = await roleOfTenants(client);
  const missing = await missingOnWorkers(client, role);
  const { rows: slow } = await client.query(slowRecovery);
  const message =
    missing.length > 0
      ? `Cannot rely on the workers: role ${role} must be able to log in to them and have the planner settings there; run: ${missing.join('; ')}`
      : slow.length > 0
        ? `Cannot rely on the workers: citus.recover_2pc_interval must be at most 10s, so that what a worker has prepared is soon visible: current value is ${slow[0]?.setting}ms; set 2s in postgresql.conf of the coordinator`
        : `Role ${role} may log in to workers and has the planner options there`;
  return { check: 'workers', ok: missing.length + slow.length === 0, message };
}

const slowRecovery =
  "select setting from pg_settings where name = 'citus.recover_2pc_interval' and cast(setting as bigint) not between 1 and 10000";
