import { useState } from 'preact/hooks';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { PickList } from '../../ui/pick-list.tsx';
import { describeFilters } from '../filters/describe-filters.ts';
import { FilterEditor } from '../filters/editors/filter-editor.tsx';
import { filterStrings as text } from '../filters/filter-strings.ts';
import { type FilterKind, removalOf } from '../filters/filters.ts';
import { suggestFilters } from '../filters/suggest-filters.ts';
import { usePasted } from '../filters/use-pasted.ts';
import { type FilterChanges, type ReportState, withFilters } from '../link/report-state.ts';
import { showReport } from '../store/report-store.ts';
import { productName } from '../words/product-names.ts';

/** The filters of the report. */
export const ReportFilterBar = ({ state }: { readonly state: ReportState }) => (
  <FilterBar<FilterKind, FilterChanges>
    used={describeFilters(state, { now: new Date(), productName })}
    removalOf={removalOf}
    onApply={(changes) => showReport(withFilters(state, changes))}
    editor={(kind, onApply) => <FilterEditor kind={kind} state={state} onApply={onApply} />}
    adder={(onApply) => <AddFilter state={state} onApply={onApply} />}
  />
);

interface FilterProps {
  readonly state: ReportState;
  readonly onApply: (changes: FilterChanges) => void;
}

function AddFilter({ state, onApply }: FilterProps) {
  const [edited, setEdited] = useState<FilterKind>();
  const choices = usePasted({
    onPick: onApply,
    options: (typed) =>
      suggestFilters(typed, state.filters, new Date()).map((suggestion) => ({
        key: suggestion.label,
        label: <bdi>{suggestion.label}</bdi>,
        onPick: () => ('edit' in suggestion ? setEdited(suggestion.edit) : onApply(suggestion.apply)),
      })),
    none: 'No filter has this name.',
  });
  if (edited !== undefined) return <FilterEditor kind={edited} state={state} onApply={onApply} />;
  return <PickList label={text.addHint} placeholder={text.addHint} {...choices} />;
}
