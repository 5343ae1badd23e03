import { ApiError } from '../../../client/error.ts';
import { type VisitStore, type Visits, visitsAt, visitsFrom } from './last-visit.ts';
import { type ChangeSelection, type PeriodChanges, type PeriodReader, readPeriod } from './read-period.ts';

/** Reads the feed of changes, and its current change token. */
export interface ChangeReader extends PeriodReader {
  present(): Promise<string>;
}

/** What changed since the last visit. */
export interface RecentChanges {
  /** The end of the last visit in milliseconds since the epoch; `undefined` at the first one. */
  readonly since: number | undefined;
  /** The service no longer knows what changed since then. */
  readonly isLost: boolean;
  /** Absent at the first visit, without a history, and if they are lost. */
  readonly period?: PeriodChanges | undefined;
}

interface ReadOptions {
  readonly selection?: ChangeSelection;
  /** Whether the reader sees the changes themselves, and not only how many there are. */
  readonly isListed: boolean;
}

/**
 * Reads what changed since the last visit. The visit counts as the last one later if it has listed
 * every change; otherwise only `markAsSeen` ends it, so that no change is passed over unseen.
 */
export async function readRecentChanges(
  reader: ChangeReader,
  store: VisitStore,
  now: () => number,
  { selection = {}, isListed }: ReadOptions,
): Promise<RecentChanges> {
  const stored = store.read();
  if (stored === undefined) {
    await beginVisits(reader, store, now);
    return { since: undefined, isLost: false };
  }
  const visits = visitsAt(stored, now());
  const since = visits.last.at;
  try {
    const period = await readPeriod(reader, visits.last.token, selection);
    const isWhole = period !== undefined && !period.hasMore && Object.keys(selection).length === 0;
    if (isListed && isWhole) store.write({ ...visits, current: { token: period.end, at: now() } });
    return { since, isLost: false, period };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'RESYNC_REQUIRED')) throw error;
    await beginVisits(reader, store, now);
    return { since, isLost: true };
  }
}

/** Lets the changes of a period count as seen: those that were counted, and no later one. */
export function markAsSeen({ end }: PeriodChanges, store: VisitStore, now: () => number): Visits {
  const visits = visitsFrom({ token: end, at: now() });
  store.write(visits);
  return visits;
}

/** There is nothing to compare with: changes from now on are new. */
async function beginVisits(reader: ChangeReader, store: VisitStore, now: () => number): Promise<void> {
  store.write(visitsFrom({ token: await reader.present(), at: now() }));
}
