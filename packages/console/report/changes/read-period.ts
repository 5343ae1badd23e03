import { ApiError } from '../../../client/error.ts';
import type { ChangesOptions, ChangesPage, ChangesSummary, DescribedChange } from '../../../client/index.ts';

/** Which changes are listed; the names are those of the address and of the API. */
export type ChangeSelection = Pick<ChangesOptions, 'kind' | 'field' | 'from' | 'to' | 'import-id'>;

type ReadOptions = Omit<ChangesOptions<true>, 'signal' | 'correlationId'>;

/** Reads and counts changes, as the client library does. */
export interface PeriodReader {
  /** When the history began, as far as that is known: no earlier changes are requested. */
  readonly historyBegin?: string | undefined;
  changes(since: string, options: ReadOptions): AsyncGenerator<ChangesPage<DescribedChange>, void, undefined>;
  changesSummary(since: string, options: { readonly until?: number | undefined }): Promise<ChangesSummary>;
}

/** What changed within a period. */
export interface PeriodChanges {
  /** When the history begins, if that is within the period: earlier changes are unknown. */
  readonly knownSince?: Date;
  /** The counts of all changes, whatever is listed. */
  readonly summary: ChangesSummary;
  /** The selected changes that have been read, the newest first. */
  readonly changes: readonly DescribedChange[];
  /** There are more of them. */
  readonly hasMore: boolean;
  /** The change token to read on from. */
  readonly next: string;
  /** The change token behind the last change that is counted: what comes later is new. */
  readonly end: string;
}

/** The changes of a page of the list. */
export const changesPerPage = 100;

/**
 * Reads the newest changes since a change token or an instant, and counts all of them as of the
 * same revision. If the history begins later, it reads since then; without a history, it returns
 * `undefined`.
 */
export async function readPeriod(
  reader: PeriodReader,
  since: string,
  selection: ChangeSelection = {},
): Promise<PeriodChanges | undefined> {
  const { historyBegin } = reader;
  const readFrom = async (begin: string) => ({
    ...(await readCounted(reader, begin, selection)),
    knownSince: new Date(begin),
  });
  if (historyBegin !== undefined && isInstant(since) && since < historyBegin) return readFrom(historyBegin);
  try {
    return await readCounted(reader, since, selection);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
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
  const options = { ...selection, before: true, size: changesPerPage } as const;
  const { changes, hasMore, next } = await readPage(reader, period.next, options);
  return { ...period, changes: [...period.changes, ...changes], hasMore, next };
}

async function readPage(
  reader: PeriodReader,
  since: string,
  options: ReadOptions,
): Promise<ChangesPage<DescribedChange>> {
  const { value } = await reader.changes(since, options).next();
  if (value === undefined) throw new TypeError('Cannot read changes: the feed must have a page');
  return value;
}
