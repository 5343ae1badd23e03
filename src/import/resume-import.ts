import type { ResumePoint } from '../storage/store.ts';
import { ImportError } from './error.ts';
import type { SourceDigest } from './source-digest.ts';

/** How an import continues from a resume point. */
export interface Resumption {
  /** Rows that are imported already. */
  readonly rows: number;
  /**
   * Whether a row, given by its number and end offset, is imported already. Throws `ImportError` if
   * the rows up to the resume point are not those that were imported.
   */
  isPast(row: number, end: number): boolean;
  /** Throws `ImportError` if a source with this number of rows ended before the resume point. */
  requireReached(rows: number): void;
}

/** Prepares to continue from a resume point, or from the beginning if there is none. */
export function createResumption(
  resumePoint: ResumePoint | undefined,
  format: string,
  digest: SourceDigest,
): Resumption {
  if (resumePoint === undefined) return { rows: 0, isPast: () => false, requireReached: () => undefined };
  if (resumePoint.format !== format) throw otherSource(`its format was ${resumePoint.format}, it is ${format} now`);
  const { bytes, read, sha256 } = resumePoint;
  return {
    rows: read,
    isPast(row, end) {
      if (row > read) return false;
      digest.markRowEnd(Math.min(end, bytes));
      if (row === read && digest.at(bytes) !== sha256)
        throw otherSource(`its first ${read} rows (${bytes} decompressed bytes) are not those that were imported`);
      return true;
    },
    requireReached(rows) {
      if (rows < read) throw otherSource(`it has ${rows} rows, ${read} were imported`);
    },
  };
}

const otherSource = (difference: string): ImportError =>
  new ImportError(
    'OTHER_SOURCE',
    `Cannot resume the import: the source must start with the rows of the unfinished import: ${difference}; import it without --resume to start again`,
  );
