import { ApiError } from '../../../src/client/error.ts';
import type { ChangesPage, DescribedChange } from '../../../src/client/index.ts';
import { changesMax } from './read-changes.ts';

/** Reads the feed of described changes, as the client library does. */
interface PeriodReader {
  changes(
    since: string,
    options: { readonly before: true; readonly size: number },
  ): AsyncGenerator<ChangesPage<DescribedChange>, void, undefined>;
}

/** What changed within a period, the newest first. */
export interface PeriodChanges {
  /** When the history begins, if that is within the period: earlier changes are unknown. */
  readonly knownSince?: Date;
  readonly changes: readonly DescribedChange[];
  /** There are more changes than these. */
  readonly hasMore: boolean;
}

/**
 * Reads what changed since an instant, or since the history begins if that is later. Resolves with
 * `undefined` if the service has no history.
 */
export async function readPeriod(reader: PeriodReader, since: string): Promise<PeriodChanges | undefined> {
  try {
    return await readFirst(reader, since);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
    const { history_begins_at: start } = error.problem;
    return start === undefined ? undefined : { ...(await readFirst(reader, start)), knownSince: new Date(start) };
  }
}

async function readFirst(reader: PeriodReader, since: string): Promise<PeriodChanges> {
  const { value } = await reader.changes(since, { before: true, size: changesMax }).next();
  if (value === undefined) throw new TypeError('Cannot read changes: the feed must have a page');
  return { changes: value.changes.toReversed(), hasMore: value.hasMore };
}
