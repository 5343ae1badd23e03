import type { CallOptions } from '../../../client/index.ts';
import { type Comparison, compareRecords } from '../source/compare-records.ts';
import { SyncError } from '../source/error.ts';
import { Measured } from '../source/measured.ts';
import { cancelIfFailed, exportAt, linesOf, type Source } from '../source/read-source.ts';
import { columns, lineOf, type Row } from '../source/record-row.ts';
import type { TableCopy } from './table-copy.ts';

/** A copy beside the report at its revision. */
interface Verification extends Comparison {
  readonly revision: number;
  /** SHA-256 of the report's lines in the NDJSON export. */
  readonly sha256: string;
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
export async function verifyCopy(
  source: Source,
  copy: Pick<TableCopy, 'position' | 'rows'>,
  call: CallOptions = {},
): Promise<Verification> {
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
  call: CallOptions = {},
): Promise<Verification> {
  const report = await exportAt(source, revision, call);
  const exported = new Measured();
  const lines = linesOf(exported.of(report));
  const names = columns.map(({ name }) => name);
  const found = await cancelIfFailed(report, () => compareRecords(linesOfRows(rows), lines, names));
  return { revision, sha256: exported.sha256, ...found };
}

async function* linesOfRows(
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const rows of batches) yield rows.map(lineOf);
}
