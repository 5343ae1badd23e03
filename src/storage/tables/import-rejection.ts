import type { Store, TenantId, TenantStatement } from '../store.ts';

/** What is kept of a tenant's rejected rows: 64 imports with as many as an import may have. */
const kept = { imports: 1_000, bytes: 8 * 2 ** 20 };

/**
 * Stores the first rejected rows of an import, as NDJSON, and removes those of the tenant's oldest
 * imports: a client that loads invalid rows over and over must not fill the disk.
 */
export async function putRejections(store: Store, tenant: TenantId, importId: string, lines: string): Promise<void> {
  await store.writeTenant(tenant, [
    { sql: upsert, values: [importId, lines] },
    { sql: removeOldest, values: [kept.imports, kept.bytes] },
  ]);
}

// the condition only satisfies the type: a tenant writes its own rows
const upsert: TenantStatement['sql'] = `insert into import_rejection (tenant_id, import_id, row_lines) values ($1, $2, $3)
  on conflict (tenant_id, import_id) do update set row_lines = excluded.row_lines where import_rejection.tenant_id = $1`;

// both engines know the length of a text without reading it
const removeOldest: TenantStatement['sql'] = `delete from import_rejection where tenant_id = $1 and import_id in (
    select import_id from (
      select import_id, row_number() over newest as imports, sum(octet_length(row_lines)) over newest as bytes
      from import_rejection where tenant_id = $1 window newest as (order by import_id desc)
    ) as newer where imports > $2 or bytes > $3
  )`;

/** The first rejected rows of an import, as NDJSON; empty if none was rejected. */
export async function readRejections(store: Store, tenant: TenantId, importId: string): Promise<string> {
  const sql = 'select row_lines from import_rejection where tenant_id = $1 and import_id = $2';
  const [row] = await store.readTenant(tenant, (reader) => reader.all(sql, [importId]), { isBounded: true });
  return row === undefined ? '' : String(row.row_lines);
}

/** Removes the rejected rows of up to `limit` imports whose ids are less than `before`. */
export async function removeRejections(store: Store, tenant: TenantId, before: string, limit: number): Promise<number> {
  const [removed] = await store.writeTenant(tenant, [{ sql: remove, values: [before, limit] }]);
  return removed?.length ?? 0;
}

const remove: TenantStatement['sql'] = `delete from import_rejection where tenant_id = $1 and import_id in (
    select import_id from import_rejection where tenant_id = $1 and import_id < $2 order by import_id limit $3
  ) returning import_id`;
