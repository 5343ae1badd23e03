import type { Subscription } from '../../contract/subscription.ts';
import type { LoadCounts } from '../storage/store.ts';
import type { ImportError } from './error.ts';
import type { Tally } from './read-valid-rows.ts';

/**
 * The result of an import. `read` counts rows; in a dry run nothing is inserted, updated or
 * unchanged. An accepted row that a later row of its batch replaces counts in none of the three.
 */
export interface ImportSummary extends LoadCounts {
  readonly read: number;
  /** Rows of CSV without a record: of empty cells, or the header once more. */
  readonly skipped: number;
  /** The first valid rows as they are stored. */
  readonly firstRecords: readonly Subscription[];
  readonly accepted: number;
  readonly rejected: number;
  /** Records that a replacement removed. */
  readonly removed?: number;
  /** What was read that is written in another way than in reports, in sentences. */
  readonly notes?: string[];
  /** Why nothing was changed, if it is because of the rows. */
  readonly refused?: ImportError;
}

export const nothingLoaded: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };

export const summaryOf = ({ read, rejected, skipped, first, spellings }: Tally, counts: LoadCounts): ImportSummary => ({
  read,
  skipped,
  firstRecords: first.map((record) => JSON.parse(record)),
  accepted: read - rejected,
  rejected,
  ...counts,
  ...(spellings.size > 0 && { notes: [`Read ${list.format(spellings.keys())} as ${list.format(spellings.values())}`] }),
});

const list = new Intl.ListFormat('en-GB');
