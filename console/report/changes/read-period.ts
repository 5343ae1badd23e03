import { ApiError } from '../../../src/client/error.ts';
import type { ChangeKind, ChangesPage, DescribedChange } from '../../../src/client/index.ts';

/** Reads the feed of described changes, as the client library does. */
interface PeriodReader {
  changes(
    since: string,
    options: { readonly before: true; readonly kind?: ChangeKind | undefined },
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

/** The most changes that are read, and the most pages, which may be short for one kind. */
const readMax = 5_000;
const pagesMax = 50;

/**
 * Reads what changed since an instant, or since the history begins if that is later; of all kinds
 * or of one. Resolves with `undefined` if the service has no history.
 */
export async function readPeriod(
  reader: PeriodReader,
  since: string,
  kind?: ChangeKind,
): Promise<PeriodChanges | undefined> {
  try {
    return await readAll(reader, since, kind);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
    const { history_begins_at: start } = error.problem;
    return start === undefined ? undefined : { ...(await readAll(reader, start, kind)), knownSince: new Date(start) };
  }
}

async function readAll(reader: PeriodReader, since: string, kind: ChangeKind | undefined): Promise<PeriodChanges> {
  const changes: DescribedChange[] = [];
  let pages = 0;
  let hasMore = false;
  for await (const page of reader.changes(since, { before: true, kind })) {
    changes.push(...page.changes);
    pages += 1;
    hasMore = page.hasMore;
    if (changes.length >= readMax || pages >= pagesMax) break;
  }
  return { changes: changes.reverse(), hasMore };
}
