import { ApiError } from '../../../client/error.ts';
import { instantAt } from '../zone/day-bounds.ts';
import { type Position, type VisitStore, visitsAt, visitsFrom } from './last-visit.ts';
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
  /** The changes since then, or of the last 24 hours; absent without a history, and if lost. */
  readonly period?: PeriodChanges | undefined;
}

interface ReadOptions {
  readonly selection?: ChangeSelection;
  /** Whether the reader sees the changes themselves, and not only how many there are. */
  readonly isListed: boolean;
}

const dayMs = 86_400_000;

/**
 * Reads what changed since the last visit; during the first one, in the last 24 hours. Unless every
 * change is listed or `markAsSeen` is called, the next visit begins where this one did, so that no
 * change is passed over unseen.
 */
export async function readRecentChanges(
  reader: ChangeReader,
  store: VisitStore,
  now: () => number,
  { selection = {}, isListed }: ReadOptions,
): Promise<RecentChanges> {
  const visits = visitsAt(store.read() ?? { current: await presentOf(reader, now) }, now());
  const since = visits.last?.at;
  if (since === undefined) store.write(visits);
  try {
    const period = await readPeriod(reader, visits.last?.token ?? instantAt(now() - dayMs), selection);
    const isWhole = period !== undefined && !period.hasMore && Object.keys(selection).length === 0;
    if (isListed && isWhole) store.write({ ...visits, current: { token: period.end, at: now() } });
    return { since, isLost: false, period };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'RESYNC_REQUIRED')) throw error;
    // there is nothing to compare with: changes from now on are new
    store.write(visitsFrom(await presentOf(reader, now)));
    return { since, isLost: true };
  }
}

/** Lets the changes of a period count as seen: those that were counted, and no later one. */
export function markAsSeen({ end }: PeriodChanges, store: VisitStore, now: () => number): Position {
  const position = { token: end, at: now() };
  store.write(visitsFrom(position));
  return position;
}

const presentOf = async (reader: ChangeReader, now: () => number) => ({ token: await reader.present(), at: now() });
