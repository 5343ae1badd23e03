import { ApiError } from '../../../src/client/error.ts';
import type { ChangesPage } from '../../../src/client/index.ts';
import { type VisitStore, type Visits, visitsAt, visitsFrom } from './last-visit.ts';
import type { ListedChange } from './listed-changes.ts';

/** Reads the feed of changes, as the client library does. */
export interface ChangeReader {
  changes(
    since?: string,
    options?: { readonly size?: number; readonly before?: boolean },
  ): AsyncGenerator<ChangesPage<ListedChange>, void, undefined>;
  /** The current change token. */
  present(): Promise<string>;
}

/** What changed since the last visit. */
export interface RecentChanges {
  /** The end of the last visit in milliseconds since the epoch; `undefined` at the first one. */
  readonly since: number | undefined;
  /** The service no longer knows what changed since then. */
  readonly isLost: boolean;
  /** Newest first, at most 1,000. */
  readonly changes: readonly ListedChange[];
  /** There are more changes than these. */
  readonly hasMore: boolean;
}

/** The largest page that the feed has. */
const changesMax = 1000;

/**
 * Reads what changed since the last visit, and remembers how far it has read. Described changes
 * have their kinds and former records, if the service keeps a history that long.
 */
export async function readRecentChanges(
  reader: ChangeReader,
  store: VisitStore,
  now: () => number,
  { isDescribed = false }: { readonly isDescribed?: boolean } = {},
): Promise<RecentChanges> {
  const stored = store.read();
  if (stored === undefined) {
    await markAsSeen(reader, store, now);
    return { since: undefined, isLost: false, changes: [], hasMore: false };
  }
  const visits = visitsAt(stored, now());
  const since = visits.last.at;
  try {
    const page = await readVisit(reader, visits.last.token, isDescribed);
    const token = page.hasMore ? await reader.present() : page.next;
    store.write({ ...visits, current: { token, at: now() } });
    return { since, isLost: false, changes: page.changes.toReversed(), hasMore: page.hasMore };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'RESYNC_REQUIRED')) throw error;
    await markAsSeen(reader, store, now);
    return { since, isLost: true, changes: [], hasMore: false };
  }
}

/** Lets everything until now count as seen. */
export async function markAsSeen(reader: ChangeReader, store: VisitStore, now: () => number): Promise<Visits> {
  const visits = visitsFrom({ token: await reader.present(), at: now() });
  store.write(visits);
  return visits;
}

async function readVisit(
  reader: ChangeReader,
  token: string,
  isDescribed: boolean,
): Promise<ChangesPage<ListedChange>> {
  if (!isDescribed) return readPage(reader, token);
  try {
    return await readPage(reader, token, true);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT') return readPage(reader, token);
    throw error;
  }
}

async function readPage(reader: ChangeReader, since: string, before?: true): Promise<ChangesPage<ListedChange>> {
  const { value } = await reader.changes(since, { size: changesMax, ...(before && { before }) }).next();
  if (value === undefined) throw new TypeError('Cannot read changes: the feed must have a page');
  return value;
}
