import type { FilterChanges, ReportState } from '../../link/report-state.ts';

/** What every editor of a filter has. */
export interface EditorProps {
  readonly state: ReportState;
  readonly onApply: (changes: FilterChanges) => void;
}
