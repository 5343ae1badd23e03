import { countLoaded, type RowChange } from '../counts/count-changes.ts';
import { toCountedRow } from '../counts/span.ts';
import type { Comparison, LoadCounts, ResumePoint, Row, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { addLoaded } from '../tables/resume-point.ts';
import { columnArrays, upsertRows } from './change-sql.ts';

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
  readonly comparison?: Comparison;
}

/** Inserts or updates rows of a tenant, with its lock held; equal rows stay as they are. */
export async function loadRows(
  run: RunStatement,
  { tenant, revision, rows, resumePoint, comparison }: Load,
): Promise<Changed<LoadCounts>> {
  const returned = rows.length === 0 ? [] : await run(upsertRows, [tenant, revision, ...columnArrays(rows)]);
  const old = new Map(returned.filter(({ kind }) => kind === 'old').map((row) => [row.id, toCountedRow(row)]));
  const changed = new Set(returned.filter(({ kind }) => kind === 'changed').map(({ id }) => id));
  const changes = rows
    .filter(({ id }) => changed.has(id))
    .map((after) => {
      const before = old.get(after.id);
      return before === undefined ? { after } : { before, after };
    });
  const result = countLoaded(rows.length + (comparison?.unchanged ?? 0), changes);
  return { changes, result, ...(resumePoint !== undefined && { resumePoint: addLoaded(resumePoint, result) }) };
}
