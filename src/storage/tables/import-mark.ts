import type { ImportMark, LoadCounts, Store, TenantId } from '../store.ts';

/** A mark with what became of the rows of one more load. */
export function addLoaded(mark: ImportMark | 'finished', loaded: LoadCounts): ImportMark | 'finished' {
  if (mark === 'finished') return mark;
  const { inserted, updated, unchanged } = loaded;
  return {
    ...mark,
    inserted: mark.inserted + inserted,
    updated: mark.updated + updated,
    unchanged: mark.unchanged + unchanged,
  };
}

/** Keeps the mark of a tenant, which is `$1`; `markValues` are the others. */
const putImportMark = `insert into subscription_import
  (tenant_id, bytes, sha256, format, rows_read, rejected, inserted, updated, unchanged)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (tenant_id) do update set bytes = excluded.bytes, sha256 = excluded.sha256, format = excluded.format,
    rows_read = excluded.rows_read, rejected = excluded.rejected, inserted = excluded.inserted, updated = excluded.updated,
    unchanged = excluded.unchanged`;

const markValues = (mark: ImportMark): (string | number)[] => [
  ...[mark.bytes, mark.sha256, mark.format, mark.read, mark.rejected],
  ...[mark.inserted, mark.updated, mark.unchanged],
];

export const removeImportMark = 'delete from subscription_import where tenant_id = $1';

/** The statement that keeps a mark, or removes that of a finished import, with what it binds. */
export function markStatement(
  tenant: string,
  mark: ImportMark | 'finished',
): [text: string, values: readonly (string | number)[]] {
  return mark === 'finished' ? [removeImportMark, [tenant]] : [putImportMark, [tenant, ...markValues(mark)]];
}

/** The mark of a tenant's unfinished import, or `undefined` when there is none. */
export async function readImportMark(store: Store, tenant: TenantId): Promise<ImportMark | undefined> {
  const [row] = await store.readTenant(
    tenant,
    (reader) =>
      reader.all(
        `select bytes, sha256, format, rows_read, rejected, inserted, updated, unchanged from subscription_import
       where tenant_id = $1`,
      ),
    { isBounded: true },
  );
  if (row === undefined) return undefined;
  return {
    bytes: Number(row.bytes),
    sha256: String(row.sha256),
    format: String(row.format),
    read: Number(row.rows_read),
    rejected: Number(row.rejected),
    inserted: Number(row.inserted),
    updated: Number(row.updated),
    unchanged: Number(row.unchanged),
  };
}
