import type { SourceIdentity } from '../source/read-source.ts';
import type { Row } from '../source/record-row.ts';

/** Where a copy is in the changes of its report. */
export interface Position {
  /** The change token to continue from. */
  readonly token: string;
  /** The revision of the report that the copy equals. */
  readonly revision: number;
  /** Number of records; absent for a stream, which cannot be counted. */
  readonly rows?: number;
  /** When the copy was found to be equal, ISO 8601 in UTC. */
  readonly syncedAt: string;
}

/** Records that were added or changed, and removals. No record is in it twice. */
export interface Changes {
  readonly rows: readonly Row[];
  /** Ids of removed records. */
  readonly removed: readonly string[];
}

/**
 * Where a copy is kept. All that is written between `begin` and `commit` becomes visible at once
 * with `commit`, or never.
 */
export interface Destination {
  /**
   * Takes the destination for this sync, and returns the position of its copy; `undefined` if there
   * is none, or if it must be loaded again. Throws `SyncError` if it is not a copy of this source,
   * somebody else has changed it, or another sync uses it.
   */
  begin(source: SourceIdentity): Promise<Position | undefined>;
  /** Replaces the copy with the rows of a whole report, which can be read once. */
  resync(batches: AsyncIterable<readonly Row[]>): Promise<void>;
  apply(changes: Changes): Promise<void>;
  /** Number of records with the changes so far; `undefined` if it cannot know. */
  count(): Promise<number | undefined>;
  /** The rows with the changes so far, in the report's order; absent if they cannot be read. */
  rows?(): AsyncIterable<readonly Row[]>;
  commit(position: Position): Promise<void>;
  /** Ends the sync. Without a commit, nothing has changed. */
  close(): Promise<void>;
}
