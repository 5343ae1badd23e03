import type { ReportFormat } from '../contract/report-format.ts';
import type { ChangeToken } from './change-token.ts';

/** The forms in which changes can be given: those that can carry the token behind them. */
export const changeFormats = ['json', 'ndjson'] as const satisfies readonly ReportFormat[];
export type ChangeFormat = (typeof changeFormats)[number];

/**
 * A query of changes that can be answered: every value read and checked, but for whether the token
 * fits the store.
 */
export interface ChangesQuery {
  /** Absent to read from the beginning. */
  readonly since?: ChangeToken;
  readonly size: number;
  readonly format: ChangeFormat;
}
