import { ask, type CountRequest } from '../counts/count-work.ts';
import { nowSeconds } from '../now-seconds.ts';
import type { Row } from '../store.ts';
import { isHistoryKept } from '../tables/revision.ts';
import { rowBytes } from '../tables/storage-use.ts';
import { insertCommit, setKeptRevision, setRevision } from './statements.ts';

interface RevisionCommit {
  /** The tenant's row, as `selectRevision` read it. */
  readonly last: Row;
  /** The new revision, if it is not the one after the last. */
  readonly revision?: number;
  /** Whether this program keeps former versions of changed records. */
  readonly keepsHistory: boolean;
  /** Whether no earlier revision can be read any more. */
  readonly beginsHistory?: boolean;
  readonly importId: string | undefined;
  /** Versions that the change added; negative if it removed some. */
  readonly versions: number;
  /** By how many bytes the tenant's charge grows, without this commit. */
  readonly bytes: number;
  /** Where the history begins if its oldest versions were removed; without a time, now. */
  readonly historyFrom?: { readonly revision: number; readonly at: number | undefined };
}

/**
 * Statements that make a change the tenant's next revision, and part of its history
 * (docs/decisions/changes.md#history). Its commit time is the current time, or `history_at` if the
 * clock was set back or an instant was settled since (`settleInstant`): times grow with revisions.
 * The history continues only if it has the last revision. Otherwise a program without a history has
 * changed records since, and a new history begins after this second, because a response may already
 * have shown this instant.
 */
export function commitRevision({
  last,
  revision = Number(last.revision) + 1,
  keepsHistory,
  beginsHistory = false,
  importId,
  versions,
  bytes,
  historyFrom,
}: RevisionCommit): readonly CountRequest[] {
  if (!keepsHistory) return [ask(setRevision, revision, versions, bytes)];
  const now = nowSeconds(); // under the lock of the tenant
  if (beginsHistory) return [ask(setKeptRevision, revision, versions, bytes, revision, now + 1, now)];
  const goesOn = isHistoryKept(last);
  const at = goesOn ? Math.max(now, Number(last.history_at)) : now;
  const kept = goesOn ? [Number(last.history_from), Number(last.history_from_at)] : [Number(last.revision), at + 1];
  const isTrimmed = historyFrom !== undefined && historyFrom.revision > Number(kept[0]);
  const from = isTrimmed ? [historyFrom.revision, historyFrom.at ?? at + 1] : kept;
  return [
    ask(setKeptRevision, revision, versions, bytes + rowBytes.commit, ...from, at),
    ask(insertCommit, revision, at, importId ?? null),
  ];
}
