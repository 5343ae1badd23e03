import type { Row, SqlValue } from '../store.ts';
import { rowBytes } from './storage-use.ts';

// The statements by which a change of a tenant's subscriptions becomes the tenant's next revision,
// and part of its history (docs/decisions/changes.md#history).

/** Reads what the next revision of a tenant continues. */
export const selectRevision =
  'select revision, history_from, history_from_at, history_revision, history_at, charged_bytes from tenant where id = $1';

/** A statement and its values. */
type BoundStatement = readonly [sql: string, values: readonly SqlValue[]];

export interface RevisionCommit {
  readonly tenant: string;
  /** The row that `selectRevision` read in this transaction, with the tenant locked. */
  readonly last: Row;
  /** The new revision, if it is not the one after the last. */
  readonly revision?: number;
  /** Whether this program keeps former versions of changed records. */
  readonly keepsHistory: boolean;
  /** Whether no earlier revision can be read any more. */
  readonly beginsHistory?: boolean;
  readonly importId?: string | undefined;
  /** Versions that the change added; negative if it removed some. */
  readonly versions?: number;
  /** By how many bytes the tenant's charge grows, without this commit. */
  readonly bytes: number;
  /** Where the history begins if its oldest versions were removed; without a time, now. */
  readonly historyFrom?: { readonly revision: number; readonly at: number | undefined } | undefined;
}

/**
 * Statements that make a change the tenant's next revision. Its commit time is the current time, or
 * `history_at` if the clock was set back or an instant was settled since (`settleInstant`): times
 * grow with revisions. The history continues only if it has the last revision. Otherwise a program
 * without a history has changed records since, and a new history begins after this second, because
 * a response may already have shown this instant.
 */
export function commitRevision({
  tenant,
  last,
  revision = Number(last.revision) + 1,
  keepsHistory,
  beginsHistory = false,
  importId,
  versions = 0,
  bytes,
  historyFrom,
}: RevisionCommit): readonly BoundStatement[] {
  if (!keepsHistory) return [[setRevision, [tenant, revision, versions, bytes]]];
  const now = clockNow();
  if (beginsHistory) return [[setKeptRevision, [tenant, revision, versions, bytes, revision, now + 1, now]]];
  const goesOn = isHistoryKept(last);
  const at = goesOn ? Math.max(now, Number(last.history_at)) : now;
  const kept = goesOn ? [Number(last.history_from), Number(last.history_from_at)] : [Number(last.revision), at + 1];
  const isTrimmed = historyFrom !== undefined && historyFrom.revision > Number(kept[0]);
  const from = isTrimmed ? [historyFrom.revision, historyFrom.at ?? at + 1] : kept;
  return [
    [setKeptRevision, [tenant, revision, versions, bytes + rowBytes.commit, ...from, at]],
    [insertCommit, [tenant, revision, at, importId ?? null]],
  ];
}

/**
 * The time of a commit in UTC epoch seconds, by the clock of this process, read under the lock of
 * the tenant.
 */
export const clockNow = (): number => Math.floor(Date.now() / 1000);

/** Whether the tenant's last revision is part of its history. */
export const isHistoryKept = ({ revision, history_revision: kept = null }: Row): boolean =>
  kept !== null && Number(kept) === Number(revision);

const setRevision =
  'update tenant set revision = $2, history_rows = history_rows + $3, charged_bytes = charged_bytes + $4 where id = $1';

const setKeptRevision = `update tenant set revision = $2, history_rows = history_rows + $3, charged_bytes = charged_bytes + $4,
  history_from = $5, history_from_at = $6, history_revision = $2, history_at = $7 where id = $1`;

/** A commit that a lost revision has left is replaced. */
const insertCommit = `insert into subscription_commit (tenant_id, revision, committed_at, import_id)
  values ($1, $2, $3, $4) on conflict (tenant_id, revision) do update set committed_at = excluded.committed_at,
  import_id = excluded.import_id`;

/** The revisions in which some erased records were current. */
interface ErasedRange {
  readonly from: number;
  readonly until: number;
  readonly n: number;
}

/**
 * Adds up erased versions: only their revisions may be kept. Rows have `from_revision` and perhaps
 * `until_revision`; without it, the record was current until `revision`.
 */
export function erasedRanges(rows: readonly Row[], revision: number): readonly ErasedRange[] {
  const ranges = rows.map(({ from_revision: from, until_revision: until }) => ({
    from: Number(from),
    until: Number(until ?? revision),
  }));
  return [...Map.groupBy(ranges, ({ from, until }) => `${from} ${until}`).values()].flatMap(([range, ...others]) =>
    range === undefined ? [] : [{ ...range, n: 1 + others.length }],
  );
}

/** Number of ranges that were not stored before they were added, given the rows afterwards. */
export function countNewRanges(ranges: readonly ErasedRange[], stored: readonly Row[]): number {
  const added = new Map(ranges.map(({ from, until, n }) => [`${from} ${until}`, n]));
  return stored.filter((row) => added.get(`${row.from_revision} ${row.until_revision}`) === Number(row.n)).length;
}
