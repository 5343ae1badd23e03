import { type Directory, type DirectoryStatement, directoryStatement, type Row, type TenantId } from '../store.ts';
import { deleteClientsOf } from './delete-tenant.ts';

/** More rows than a directory has. */
const rowsMax = 2 ** 31 - 1;

/** A tenant: a customer of the operator. */
export interface Tenant {
  readonly tenant: TenantId;
  /** When it was created, in UTC epoch seconds. */
  readonly createdAt: number;
  /** Grows with each committed change of the tenant's subscriptions. */
  readonly revision: number;
  /** When its deletion began, in UTC epoch seconds; `null` for an active tenant. */
  readonly deletingSince: number | null;
  /** Which columns of CSV are which fields in its imports, as JSON; `null` if none is saved. */
  readonly columns: string | null;
  /** Bytes that it is charged. */
  readonly chargedBytes: number;
}

/**
 * Creates a tenant; returns `false` if one of this name exists or is still being deleted. A new
 * tenant with the name of a deleted one continues from its revision. Its history begins now, so the
 * report as of a time before the first import is empty.
 */
export async function insertTenant(store: Directory, tenant: string, nowSeconds: number): Promise<boolean> {
  const insert = directoryStatement(
    `insert into tenant as t (id, created_at, history_from, history_from_at, history_revision, history_at)
     values ($1, $2, 0, $2, 0, $2)
     on conflict (id) do update set created_at = excluded.created_at, revision = t.revision + 1, swept_revision = t.revision + 1,
       history_from = t.revision + 1, history_from_at = $2, history_revision = t.revision + 1, history_at = $2,
       charged_bytes = 0,
       deletion_started_at = null, deleted_at = null, import_columns = null
     where t.deleted_at is not null returning id`,
    [tenant, nowSeconds],
  );
  const deleted = await store.readDirectory('select id from tenant where id = $1 and deleted_at is not null', [tenant]);
  const results = await store.writeDirectory([
    // a client may have been created meanwhile
    ...(deleted.length > 0 ? deleteClientsOf(tenant) : []),
    insert,
  ]);
  return results.at(-1)?.length === 1;
}

const columns = `id, created_at, revision, deletion_started_at, import_columns, charged_bytes` as const;

/** The tenant with this name; `undefined` if there is none, or if it is being deleted. */
export async function findTenant(store: Directory, tenant: string): Promise<Tenant | undefined> {
  const found = await findAnyTenant(store, tenant);
  return found?.deletingSince === null ? found : undefined;
}

/** The tenant with this name, also while it is being deleted, or `undefined`. */
export async function findAnyTenant(store: Directory, tenant: string): Promise<Tenant | undefined> {
  const [row] = await store.readDirectory(
    `select ${columns} from tenant where id = $1 and deleted_at is null` as const,
    [tenant],
  );
  return row === undefined ? undefined : toTenant(row);
}

/** All tenants by name, including those being deleted; or up to `limit` of them after a name. */
export async function listTenants(store: Directory, after = '', limit = rowsMax): Promise<readonly Tenant[]> {
  const rows = await store.readDirectory(
    `select ${columns} from tenant where deleted_at is null and id > $1 order by id limit $2` as const,
    [after, limit],
  );
  return rows.map(toTenant);
}

/** Up to `limit` names of tenants on each side of a name, including those being deleted. */
export async function listNamesNear(store: Directory, name: string, limit: number): Promise<readonly TenantId[]> {
  const following = await store.readDirectory(
    'select id from tenant where deleted_at is null and id >= $1 order by id limit $2',
    [name, limit],
  );
  const previous = await store.readDirectory(
    'select id from tenant where deleted_at is null and id < $1 order by id desc limit $2',
    [name, limit],
  );
  return [...previous, ...following].map(({ id }) => id as TenantId);
}

function toTenant(row: Row): Tenant {
  return {
    tenant: row.id as TenantId,
    createdAt: Number(row.created_at),
    revision: Number(row.revision),
    deletingSince: row.deletion_started_at === null ? null : Number(row.deletion_started_at),
    columns: typeof row.import_columns === 'string' ? row.import_columns : null,
    chargedBytes: Number(row.charged_bytes),
  };
}

/** Saves which columns of CSV are which fields in imports of a tenant, as JSON; `null` for none. */
export const setColumnsStatement = (tenant: string, columns: string | null): DirectoryStatement =>
  directoryStatement('update tenant set import_columns = $2 where id = $1', [tenant, columns]);
