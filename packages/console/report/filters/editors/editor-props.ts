import type { FilterChanges, ReportState } from '../../link/report-state.ts';
import type { Filter } from '../filters.ts';

/** What every editor of a filter has. */
export interface EditorProps {
  readonly filter: Filter;
  readonly state: ReportState;
  readonly onApply: (changes: FilterChanges) => void;
}
