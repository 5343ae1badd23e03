import { ApiError } from '../../../client/error.ts';
import type { ChangesOptions, ChangesPage, ChangesSummary } from '../../../client/index.ts';
import type { ListedChange } from './listed-changes.ts';

/** Which changes are listed; the names are those of the address and of the API. */
export type ChangeSelection = Pick<ChangesOptions, 'kind' | 'field' | 'from' | 'to' | 'import-id'>;

type ReadOptions = Omit<ChangesOptions<boolean>, 'signal' | 'correlationId'>;

/** Reads and counts changes, as the client library does. */
export interface PeriodReader {
  /** When the history began, as far as that is known: no earlier changes are requested. */
  readonly historyBegin?: string | undefined;
  changes(since: string, options: ReadOptions): AsyncGenerator<ChangesPage<ListedChange>, void, undefined>;
  changesSummary(since: string, options: { readonly until?: number | undefined }): Promise<ChangesSummary>;
}

/** What changed within a period. */
export interface PeriodChanges {
  /** When the history begins, if that is within the period: earlier changes are unknown. */
  readonly knownSince?: Date;
  /** The counts of all changes, whatever is listed; absent without a history of the period. */
  readonly summary?: ChangesSummary;
  /** The selected changes that have been read, the newest first. */
  readonly changes: readonly ListedChange[];
  /** There are more of them. */
  readonly hasMore: boolean;
  /** The change token to read on from. */
  readonly next: string;
  /** The change token behind the last change that is counted or listed: what comes later is new. */
  readonly end: string;
}

/** The changes of a page of the list. */
export const changesPerPage = 100;

/**
 * Reads the newest changes since a change token or an instant, and counts all of them as of the
 * same revision. If the history begins later than the instant, it reads since then. If no history
 * is kept, the changes after a token are listed but not counted, and an instant returns
 * `undefined`.
 */
export async function readPeriod(
  reader: PeriodReader,
  since: string,
  selection: ChangeSelection = {},
): Promise<PeriodChanges | undefined> {
  const read = (begin: string) => readCounted(reader, begin, selection);
  if (isInstant(since)) return sinceBegin(reader, since, read);
  try {
    return await read(since);
  } catch (error) {
    if (!isNotKept(error)) throw error;
    return readUncounted(reader, since);
  }
}

const isNotKept = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT';

/**
 * Reads what happened since an instant, or since the begin of the history if that is later;
 * `undefined` without a history.
 */
async function sinceBegin(
  { historyBegin }: PeriodReader,
  since: string,
  read: (begin: string) => Promise<PeriodChanges>,
): Promise<PeriodChanges | undefined> {
  const readFrom = async (begin: string) => ({ ...(await read(begin)), knownSince: new Date(begin) });
  if (historyBegin !== undefined && since < historyBegin) return readFrom(historyBegin);
  try {
    return await read(since);
  } catch (error) {
    if (!isNotKept(error)) throw error;
    const { history_begins_at: start } = error.problem;
    return start === undefined ? undefined : readFrom(start);
  }
}

const isInstant = (since: string): boolean => since.includes(':');

async function readCounted(reader: PeriodReader, since: string, selection: ChangeSelection): Promise<PeriodChanges> {
  const { changes, hasMore, next, revision } = await readPage(reader, since, {
    ...selection,
    before: true,
    order: 'newest',
    size: changesPerPage,
  });
  const summary = await reader.changesSummary(since, { until: revision });
  return { summary, changes, hasMore, next, end: summary.next };
}

/** Reads the changes that follow those of a page of `readPeriod`. */
export async function readMore(
  reader: PeriodReader,
  period: PeriodChanges,
  selection: ChangeSelection = {},
): Promise<PeriodChanges> {
  const options = { ...selection, before: true, size: changesPerPage };
  const { changes, hasMore, next } = await readPage(reader, period.next, options);
  return { ...period, changes: [...period.changes, ...changes], hasMore, next };
}

/** The oldest changes, so that the next read can continue after them. */
async function readUncounted(reader: PeriodReader, since: string): Promise<PeriodChanges> {
  const { changes, hasMore, next } = await readPage(reader, since, { size: 1_000 });
  return { changes: changes.toReversed(), hasMore, next, end: next };
}

async function readPage(reader: PeriodReader, since: string, options: ReadOptions): Promise<ChangesPage<ListedChange>> {
  const { value } = await reader.changes(since, options).next();
  if (value === undefined) throw new TypeError('Cannot read changes: the feed must have a page');
  return value;
}
