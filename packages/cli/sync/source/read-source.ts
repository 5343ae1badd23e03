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

/** Returns the current change token of a report. Throws an error of the client library. */
export async function currentPosition(client: SubreportClient, call: CallOptions): Promise<CurrentPosition> {
  for await (const page of client.changes('now', call)) return { token: page.next, revision: revisionOf(page) };
  throw new TypeError('Cannot read the changes: there must be a page');
}

/** Requests the report at a revision. Throws `SyncError` `REVISION_GONE` if parts are lost. */
export async function exportAt(
  { client }: Pick<Source, 'client'>,
  revision: number,
  call: CallOptions,
  query: Readonly<Record<string, string>> = {},
): Promise<SubscriptionExport> {
  const report = await client
    .export({ ...query, 'as-of': revision }, { format: 'ndjson', ...call })
    .catch((error: unknown) => {
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
