import type pg from 'pg';
import { StorageError } from '../error.ts';

/**
 * The role that a tenant's transactions switch to if the role we connect as bypasses row-level
 * security.
 */
export const tenantRole = 'subreport_tenant';

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

/** The role that transactions of tenants run as. */
export const roleOfTenants = async (client: pg.ClientBase): Promise<string> =>
  (await bypassesRowSecurity(client)) ? tenantRole : sessionRole(client);

/**
 * Creates `tenantRole` unless it exists. Roles belong to the whole cluster, so another database's
 * migration may create it at the same time.
 */
export async function createTenantRole(client: pg.ClientBase): Promise<void> {
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
export async function grantToTenantRole(client: pg.ClientBase): Promise<void> {
  await client.query(
    `grant select, insert, update, delete on subscription, subscription_span, subscription_tombstone, subscription_import, import_rejection to ${tenantRole}`,
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
