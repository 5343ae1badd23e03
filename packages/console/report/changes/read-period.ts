import { ApiError } from '../../../client/error.ts';
import type { ChangesOptions, ChangesPage, ChangesSummary, SubreportClient } from '../../../client/index.ts';
import { instantAt } from '../zone/day-bounds.ts';
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
  const { historyBegin } = reader;
  const readFrom = async (begin: string): Promise<PeriodChanges> => ({
    ...(await readCounted(reader, begin, selection)),
    knownSince: new Date(begin),
  });
  try {
    if (isInstant(since) && historyBegin !== undefined && since < historyBegin) return await readFrom(historyBegin);
    return await readCounted(reader, since, selection);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
    if (!isInstant(since)) return readUncounted(reader, since);
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

/**
 * Counts the changes of a period of the past; `undefined` without a history of it. If the history
 * begins within the period, `knownSince` is when.
 */
export async function countUntil(
  reader: Pick<SubreportClient, 'changesSummary'> & Pick<PeriodReader, 'historyBegin'>,
  since: Date,
  until: string,
): Promise<{ readonly summary: ChangesSummary; readonly knownSince?: Date } | undefined> {
  const count = (from: string) => reader.changesSummary(from, { until });
  const countFrom = async (begin: string) =>
    begin >= until ? undefined : { summary: await count(begin), knownSince: new Date(begin) };
  const from = instantAt(since.getTime());
  const { historyBegin } = reader;
  try {
    if (historyBegin !== undefined && from < historyBegin) return await countFrom(historyBegin);
    return { summary: await count(from) };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
    const { history_begins_at: start } = error.problem;
    return start === undefined ? undefined : countFrom(start);
  }
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
