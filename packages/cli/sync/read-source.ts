import type { CallOptions, ChangesPage, SubreportClient, SubscriptionExport } from '../../client/index.ts';
import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';

/** A report, and who reads it. */
export interface Source extends SourceIdentity {
  readonly client: SubreportClient;
}

/** Where a report is in its changes. */
export interface CurrentPosition {
  /** The change token to continue from. */
  readonly token: string;
  /** The revision of the report. */
  readonly revision: number;
}

/** The revision of a page. Throws `SyncError` if a proxy has removed it. */
export function revisionOf({ revision = Number.NaN }: Pick<ChangesPage, 'revision'>): number {
  if (Number.isSafeInteger(revision)) return revision;
  throw sourceWithout('X-Revision');
}

/** The error of a service that does not send a header, or of a proxy that removes it. */
export const sourceWithout = (name: string): SyncError =>
  new SyncError(
    'SOURCE_UNKNOWN',
    `Cannot sync with this service: its report must have the header ${name} with a number: no proxy may remove it, and it must run the version of subreport that this command has, or a later one`,
  );

/** Returns the current change token of a report. Throws an error of the client library. */
export async function currentPosition(client: SubreportClient, call: CallOptions): Promise<CurrentPosition> {
  for await (const page of client.changes('now', call)) return { token: page.next, revision: revisionOf(page) };
  throw new TypeError('Cannot read the changes: there must be a page');
}

/** Maximum characters of a line: the longest record of an import has 16 KiB. */
export const lineLengthMax = 65_536;

/**
 * Yields the lines of an export or a file without their line feeds, about a piece of the network at
 * a time; a last line may lack one. Of an export, throws `ExportError` at the end unless it is
 * complete and unaltered. Throws `SyncError` `NOT_EQUAL` if a line is too long.
 */
export async function* linesOf(text: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of text) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    requireLineLength(rest);
    if (lines.length > 0) yield lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield [rest];
}

/** Throws `SyncError` `NOT_EQUAL` if a line is too long. */
function requireLineLength({ length }: string): void {
  if (length > lineLengthMax)
    throw new SyncError('NOT_EQUAL', `each line must have at most ${lineLengthMax.toLocaleString('en')} characters`);
}

/** Runs `work` with a report, and cancels it on failure: an open body keeps a process running. */
export async function cancelIfFailed<T>(report: SubscriptionExport, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await report.cancel().catch(() => undefined); // it is being read, and ends by itself
    throw error;
  }
}
