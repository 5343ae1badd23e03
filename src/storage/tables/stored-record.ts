import type { Store, TenantId, TenantSql, TenantStatement } from '../store.ts';

/** What an import compares with a row. */
export interface StoredRecord {
  readonly record: string;
  readonly email: string | null;
}

/** Records of a tenant by id, and its revision in the same snapshot. */
export interface StoredRecords {
  readonly revision: number;
  readonly records: ReadonlyMap<string, StoredRecord>;
}

/** Reads the stored records with these ids, none of which may contain a comma. */
export async function readStoredRecords(
  store: Pick<Store, 'engine' | 'readTenantOnce'>,
  tenant: TenantId,
  ids: readonly string[],
): Promise<StoredRecords> {
  // sorted, because adjacent keys share pages
  const sorted = ids.toSorted().join(',');
  const statements: TenantStatement[] = [
    { sql: selectRevision, values: [] },
    { sql: selectRecords[store.engine], values: [sorted] },
  ];
  // SQLite reads the few thousand records of a batch, in some milliseconds, on the main thread
  const [[found] = [], rows = []] = await store.readTenantOnce(tenant, statements, { isBounded: true });
  const records = new Map(rows.map((row) => [String(row.id), row as unknown as StoredRecord]));
  return { revision: Number(found?.revision ?? 0), records };
}

const selectRevision = 'select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1';

/** Looks the ids up in their order. No statement that both engines accept does so at this cost. */
const selectRecords: Readonly<Record<Store['engine'], TenantSql>> = {
  postgres: `select id, record, email from subscription where tenant_id = $1 and id = any(string_to_array($2, ','))`,
  sqlite: `select s.id, s.record, s.email
    from json_each('["' || replace($2, ',', '","') || '"]') as k
    cross join subscription as s on s.tenant_id = $1 and s.id = k.value`,
};
