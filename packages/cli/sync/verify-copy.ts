import { createHash, type Hash } from 'node:crypto';
import { ApiError } from '../../client/index.ts';
import type { ReadableCopy } from './destination.ts';
import { SyncError } from './error.ts';
import { lineOf } from './record-row.ts';
import type { Source } from './run-sync.ts';

/** A copy beside the report at its revision. */
interface Verification {
  readonly revision: number;
  readonly copy: Digest;
  readonly report: Digest;
  readonly isEqual: boolean;
}

/** Number of records, and SHA-256 of their lines in the NDJSON export. */
interface Digest {
  readonly rows: number;
  readonly sha256: string;
}

/**
 * Compares a copy with the report at the copy's revision, byte by byte: both as the lines of the
 * NDJSON export, in its order. Throws `SyncError` `NOT_EQUAL` if there is no copy, or if the
 * service no longer has that revision.
 */
export async function verifyCopy(
  { client, service, clientId }: Source,
  copy: ReadableCopy,
  call: { readonly signal?: AbortSignal } = {},
): Promise<Verification> {
  const position = await copy.position();
  if (position === undefined)
    throw new SyncError('NOT_EQUAL', "Cannot verify the copy: there must be one: run 'subreport sync' first");
  if (position.service !== service || position.clientId !== clientId)
    throw new SyncError(
      'OTHER_SOURCE',
      `Cannot verify the copy: the profile must be that of its sync: current value is a copy for '${position.clientId}' of ${position.service}`,
    );
  const { revision } = position;
  const report = await client.export({ 'as-of': revision }, { format: 'ndjson', ...call }).catch((error: unknown) => {
    throw hasMoved(error) ? outdated(revision, 'a revision that the service no longer has') : error;
  });
  const erased = report.headers.get('x-erased-count');
  if (erased !== null) {
    await report.cancel();
    throw outdated(revision, `a revision of which ${erased} records have been erased since`);
  }
  const hash = createHash('sha256');
  for await (const bytes of report) hash.update(bytes);
  const expected = { rows: report.totalCount, sha256: hash.digest('hex') };
  const found = await digestOf(copy);
  return {
    revision,
    copy: found,
    report: expected,
    isEqual: found.rows === expected.rows && found.sha256 === expected.sha256,
  };
}

async function digestOf(copy: ReadableCopy): Promise<Digest> {
  const hash: Hash = createHash('sha256');
  let count = 0;
  for await (const rows of copy.rows()) {
    hash.update(rows.map((row) => `${lineOf(row)}\n`).join(''));
    count += rows.length;
  }
  return { rows: count, sha256: hash.digest('hex') };
}

const hasMoved = (error: unknown): boolean =>
  error instanceof ApiError && ['HISTORY_NOT_KEPT', 'INVALID_REQUEST_PARAMS'].includes(error.code);

const outdated = (revision: number, found: string): SyncError =>
  new SyncError(
    'NOT_EQUAL',
    `Cannot verify the copy at revision ${revision}: the service must still have all of that report; run 'subreport sync' first: current value is ${found}`,
  );
