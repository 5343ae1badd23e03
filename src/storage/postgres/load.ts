import { countLoaded, type RowChange } from '../counts/count-changes.ts';
import { toCountedRow } from '../counts/span.ts';
import type { LoadCounts, ResumePoint, Row, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { addLoaded } from '../tables/resume-point.ts';
import { columnArrays, comparedArrays, selectSameRows, upsertRows } from './change-sql.ts';

/** Runs one statement in the transaction of a change. */
export type RunStatement = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** The effect of a change on a tenant's rows. */
export interface Changed<T> {
  readonly changes: readonly RowChange[];
  readonly result: T;
  /** The resume point of the import that made the change. */
  readonly resumePoint?: ResumePoint | 'finished';
}

interface Load {
  readonly tenant: TenantId;
  readonly revision: number;
  readonly rows: readonly SubscriptionRow[];
  readonly resumePoint: ResumePoint | 'finished' | undefined;
}

/** Inserts or updates rows of a tenant, with its lock held; equal rows stay as they are. */
export async function loadRows(
  run: RunStatement,
  { tenant, revision, rows, resumePoint }: Load,
): Promise<Changed<LoadCounts>> {
  const differing = expectsNewRows(resumePoint) ? rows : await findDiffering(run, tenant, rows);
  const returned = differing.length === 0 ? [] : await run(upsertRows, [tenant, revision, ...columnArrays(differing)]);
  const old = new Map(returned.filter(({ kind }) => kind === 'old').map((row) => [row.id, toCountedRow(row)]));
  const changed = new Set(returned.filter(({ kind }) => kind === 'changed').map(({ id }) => id));
  const changes = differing
    .filter(({ id }) => changed.has(id))
    .map((after) => {
      const before = old.get(after.id);
      return before === undefined ? { after } : { before, after };
    });
  const result = countLoaded(rows.length, changes);
  return { changes, result, ...(resumePoint !== undefined && { resumePoint: addLoaded(resumePoint, result) }) };
}

/**
 * Whether most rows of the import were new so far, or nothing is known: then comparing first would
 * only add to the cost of inserting.
 */
function expectsNewRows(resumePoint: ResumePoint | 'finished' | undefined): boolean {
  if (resumePoint === undefined) return true;
  return resumePoint !== 'finished' && resumePoint.inserted > resumePoint.updated + resumePoint.unchanged;
}

/** The rows that are not stored as they are: to find them costs a fifth of an upsert. */
async function findDiffering(
  run: RunStatement,
  tenant: TenantId,
  rows: readonly SubscriptionRow[],
): Promise<readonly SubscriptionRow[]> {
  const [found] = await run(selectSameRows, [tenant, ...comparedArrays(rows)]);
  const same = new Set(String(found?.same ?? '').split(','));
  return rows.filter((_, index) => !same.has(String(index + 1)));
}
