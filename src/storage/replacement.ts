import type { LoadCounts } from './load-counts.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** What became of a tenant's rows when others took their place. */
export interface ReplaceCounts extends LoadCounts {
  readonly removed: number;
}

/** Rows that are to become all rows of a tenant; they are gathered aside, where nobody reads them. */
export interface Replacement {
  /** Adds rows, no two of one id; a row takes the place of one with its id that was added before. */
  add(rows: readonly SubscriptionRow[]): Promise<void>;
  /**
   * Makes the rows that were added all rows of the tenant, in one transaction and as one revision, durable when it resolves; a row equal to the stored one is
   * left alone. A dry run only counts.
   */
  finish(dryRun: boolean): Promise<ReplaceCounts>;
  /** Lets go what was gathered, and undoes what is under way. */
  close(): Promise<void>;
}

/** With more changed rows than this the counts are made anew, which needs no more memory for more of them. */
export const countedChangesMax = 20_000;
