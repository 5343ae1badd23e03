import { createHash } from 'node:crypto';
import { ApiError, type SubscriptionExport } from '../../client/index.ts';
import { type Comparison, compareRecords } from './compare-records.ts';
import type { ReadableCopy } from './destination.ts';
import { SyncError } from './error.ts';
import { cancelIfFailed, linesOf, type Source } from './read-source.ts';
import { columns, lineOf, type Row } from './record-row.ts';

/** A copy beside the report at its revision. */
interface Verification extends Comparison {
  readonly revision: number;
  /** SHA-256 of the report's lines in the NDJSON export. */
  readonly sha256: string;
}

interface Call {
  readonly signal?: AbortSignal;
}

/** A sentence for a copy that differs: how many records, and the first of them. */
export function describeDifferences({ differences, named }: Comparison): string {
  const more = differences - named.length;
  const lines = [...named, ...(more > 0 ? [`and ${more.toLocaleString('en')} more`] : [])];
  return `${differences.toLocaleString('en')} ${differences === 1 ? 'difference' : 'differences'}${lines.map((line) => `\n  ${line}`).join('')}`;
}

/**
 * Compares a copy with the report at the copy's revision, record by record: both as the lines of
 * the NDJSON export, in its order. Throws `SyncError` `NOT_EQUAL` if there is no copy,
 * `REVISION_GONE` if the service no longer has that revision.
 */
export async function verifyCopy(source: Source, copy: ReadableCopy, call: Call = {}): Promise<Verification> {
  const position = await copy.position();
  if (position === undefined)
    throw new SyncError('NOT_EQUAL', "Cannot verify the copy: there must be one: run 'subreport sync' first");
  if (position.service !== source.service || position.clientId !== source.clientId)
    throw new SyncError(
      'OTHER_SOURCE',
      `Cannot verify the copy: the profile must be that of its sync: current value is a copy for '${position.clientId}' of ${position.service}`,
    );
  return compareRows(source, copy.rows(), position.revision, call);
}

/** Compares rows with the report at a revision. Throws as `verifyCopy` does. */
export async function compareRows(
  source: Pick<Source, 'client'>,
  rows: AsyncIterable<readonly Row[]>,
  revision: number,
  call: Call = {},
): Promise<Verification> {
  const report = await exportAt(source, revision, call);
  const hash = createHash('sha256');
  const lines = linesOf(hashed(report, hash));
  const names = columns.map(({ name }) => name);
  const found = await cancelIfFailed(report, () => compareRecords(linesOfRows(rows), lines, names));
  return { revision, sha256: hash.digest('hex'), ...found };
}

/** Requests the report at a revision. Throws `SyncError` `REVISION_GONE` if parts are lost. */
export async function exportAt(
  { client }: Pick<Source, 'client'>,
  revision: number,
  call: Call,
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

async function* linesOfRows(
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const rows of batches) yield rows.map(lineOf);
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of chunks) {
    hash.update(bytes);
    yield bytes;
  }
}

const hasMoved = (error: unknown): boolean =>
  error instanceof ApiError && ['HISTORY_NOT_KEPT', 'INVALID_REQUEST_PARAMS'].includes(error.code);

const revisionGone = (revision: number, found: string): SyncError =>
  new SyncError(
    'REVISION_GONE',
    `Cannot compare with the report at revision ${revision}: the service must still have all of it; run 'subreport sync' first: current value is ${found}`,
  );
