import type { RejectedRow } from '../../../contract/load.ts';

/** Parses the rejected rows of an import, one JSON object per line. */
export const parseRejectedRows = (lines: string): RejectedRow[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RejectedRow);
