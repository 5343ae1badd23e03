import type { sinceNow } from '../contract/change.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import type { ChangeToken } from './change-token.ts';

/** The formats of the changes: those that can contain the following token. */
export const changeFormats = ['json', 'ndjson'] as const satisfies readonly ReportFormat[];
export type ChangeFormat = (typeof changeFormats)[number];

/** A validated query of changes; whether the token belongs to the store is checked later. */
export interface ChangesQuery {
  /** Absent to read from the beginning. */
  readonly since?: ChangeToken | typeof sinceNow;
  readonly size: number;
  readonly format: ChangeFormat;
}
