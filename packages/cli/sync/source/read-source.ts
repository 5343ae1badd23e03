import {
  ApiError,
  type CallOptions,
  type ChangesPage,
  type SubreportClient,
  type SubscriptionExport,
} from '../../../client/index.ts';
import { SyncError } from './error.ts';

/** Whose report a copy has. */
export interface SourceIdentity {
  /** Base URL of the service's API. */
  readonly service: string;
  readonly clientId: string;
}

/** A report, and who reads it. */
export interface Source extends SourceIdentity {
  readonly client: SubreportClient;
}

/** The revision of a page. Throws `SyncError` if a proxy has removed it. */
export function revisionOf({ revision = Number.NaN }: Pick<ChangesPage, 'revision'>): number {
  if (Number.isSafeInteger(revision)) return revision;
  throw sourceWithout('X-Revision');
}

/** The error of a service that does not send a header, or of a proxy that removes it. */
const sourceWithout = (name: string): SyncError =>
  new SyncError(
    'SOURCE_UNKNOWN',
    `Cannot sync with this service: its report must have the header ${name} with a number: no proxy may remove it, and it must run the version of subreport that this command has, or a later one`,
  );

/** The revision of an export. Throws `SyncError` if the service is too old to send it. */
export const requireRevision = (headers: Headers): number => requireNumber(headers, 'X-Revision');

/** The number of records of an export. Throws `SyncError` if a proxy has removed it. */
export const requireCount = (headers: Headers): number => requireNumber(headers, 'X-Total-Count');

function requireNumber(headers: Headers, name: string): number {
  const found = headers.get(name) ?? '';
  if (/^\d+$/.test(found) && Number.isSafeInteger(Number(found))) return Number(found);
  throw sourceWithout(name);
}

/** How far the clock of another machine may be ahead, in milliseconds. */
const clockMsMax = 300_000;

/** Whether an instant, ISO 8601, is in the future: a clock was ahead when it was written. */
export const isYetToCome = (instant: string): boolean => Date.parse(instant) > Date.now() + clockMsMax;

/**
 * Returns the current revision of a report, and the change token to continue from. Throws an error
 * of the client library.
 */
export async function currentPosition(
  client: SubreportClient,
  call: CallOptions,
): Promise<{ readonly token: string; readonly revision: number }> {
  for await (const page of client.changes('now', call)) return { token: page.next, revision: revisionOf(page) };
  throw new TypeError('Cannot read the changes: there must be a page');
}

/** A report beside a copy of it. */
export interface Lag {
  /** The current revision of the report. */
  readonly revision: number;
  /** Whether nothing has changed since the copy. */
  readonly isInStep: boolean;
  /** Whether the changes since the copy can no longer be read, such as after a restore. */
  readonly isTokenInvalid: boolean;
}

/**
 * Reads what has happened to a report since a copy; one of files has no change token. Throws an
 * error of the client library.
 */
export async function readLag(
  { client }: Source,
  copy: { readonly revision: number; readonly token?: string | undefined },
  signal: AbortSignal,
): Promise<Lag> {
  const isTokenInvalid = false;
  if (copy.token === undefined) {
    const { revision } = await currentPosition(client, { signal });
    return { revision, isInStep: revision === copy.revision, isTokenInvalid };
  }
  let revision = copy.revision;
  try {
    for await (const page of client.changes(copy.token, { size: 1, signal })) {
      // a process of the service may be a second behind another one
      revision = Math.max(revision, revisionOf(page));
      if (page.changes.length > 0) return { revision, isInStep: false, isTokenInvalid };
    }
    return { revision, isInStep: true, isTokenInvalid };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'RESYNC_REQUIRED') throw error;
    const now = await currentPosition(client, { signal });
    return { revision: now.revision, isInStep: false, isTokenInvalid: true };
  }
}

/** Requests the report at a revision. Throws `SyncError` `REVISION_GONE` if parts are lost. */
export async function exportAt(
  { client }: Pick<Source, 'client'>,
  revision: number,
  call: CallOptions,
): Promise<SubscriptionExport> {
  const report = await client.export({ 'as-of': revision }, { format: 'ndjson', ...call }).catch((error: unknown) => {
    throw hasMoved(error) ? revisionGone(revision, 'a revision that the service does not have') : error;
  });
  const erased = report.headers.get('x-erased-count');
  if (erased === null) return report;
  await report.cancel();
  throw revisionGone(revision, `a revision of which ${erased} records have been erased since`);
}

/** Whether the report at a revision can no longer be read. */
export const hasMoved = (error: unknown): boolean =>
  error instanceof ApiError && ['HISTORY_NOT_KEPT', 'INVALID_REQUEST_PARAMS'].includes(error.code);

const revisionGone = (revision: number, found: string): SyncError =>
  new SyncError(
    'REVISION_GONE',
    `Cannot compare with the report at revision ${revision}: the service must still have all of it; run 'subreport sync' first: current value is ${found}`,
  );

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
