import type { LoadCounts, ResumePoint, Store, TenantId } from '../store.ts';

/** Adds the counts of one more load to a resume point. */
export function addLoaded(resumePoint: ResumePoint | 'finished', loaded: LoadCounts): ResumePoint | 'finished' {
  if (resumePoint === 'finished') return resumePoint;
  const { inserted, updated, unchanged } = loaded;
  return {
    ...resumePoint,
    inserted: resumePoint.inserted + inserted,
    updated: resumePoint.updated + updated,
    unchanged: resumePoint.unchanged + unchanged,
  };
}

/** Whether every row of the import was new so far. */
export const expectsOnlyNewRows = (resumePoint: ResumePoint | 'finished' | undefined): boolean =>
  resumePoint !== undefined &&
  resumePoint !== 'finished' &&
  resumePoint.inserted > 0 &&
  resumePoint.updated + resumePoint.unchanged === 0;

/** Stores the resume point of a tenant, `$1`; `resumePointValues` are the other values. */
const putResumePoint = `insert into subscription_import
  (tenant_id, bytes, sha256, format, rows_read, rejected, inserted, updated, unchanged)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (tenant_id) do update set bytes = excluded.bytes, sha256 = excluded.sha256, format = excluded.format,
    rows_read = excluded.rows_read, rejected = excluded.rejected, inserted = excluded.inserted, updated = excluded.updated,
    unchanged = excluded.unchanged`;

const resumePointValues = (resumePoint: ResumePoint): (string | number)[] => [
  ...[resumePoint.bytes, resumePoint.sha256, resumePoint.format, resumePoint.read, resumePoint.rejected],
  ...[resumePoint.inserted, resumePoint.updated, resumePoint.unchanged],
];

export const removeResumePoint = 'delete from subscription_import where tenant_id = $1';

/** The statement that stores a resume point, or removes it when the import has finished. */
export function resumePointStatement(
  tenant: string,
  resumePoint: ResumePoint | 'finished',
): [text: string, values: readonly (string | number)[]] {
  return resumePoint === 'finished'
    ? [removeResumePoint, [tenant]]
    : [putResumePoint, [tenant, ...resumePointValues(resumePoint)]];
}

/** The resume point of a tenant's unfinished import, or `undefined` if there is none. */
export async function readResumePoint(store: Store, tenant: TenantId): Promise<ResumePoint | undefined> {
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
