import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Plus } from '../../ui/icons.ts';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { PickList } from '../../ui/pick-list.tsx';
import { Popover } from '../../ui/popover.tsx';
import { describeFilters } from '../filters/describe-filters.ts';
import { FilterEditor } from '../filters/editors/filter-editor.tsx';
import { filterStrings as text } from '../filters/filter-strings.ts';
import { type FilterKind, removalOf } from '../filters/filters.ts';
import { suggestFilters } from '../filters/suggest-filters.ts';
import { usePasted } from '../filters/use-pasted.ts';
import { type FilterChanges, type ReportState, withFilters } from '../link/report-state.ts';
import { showReport } from '../store/report-store.ts';
import { productName } from '../words/product-names.ts';

/** The filters in words, and the list that adds one. */
export function FilterBar({ state }: { state: ReportState }) {
  const adder = useRef<HTMLSpanElement>(null);
  const shortcuts = useRef([
    {
      key: '/',
      label: text.addKey,
      run: (event: KeyboardEvent) => {
        event.preventDefault(); // the list must not begin with the key
        adder.current?.querySelector('button')?.click();
      },
    },
  ]);
  useShortcuts(shortcuts.current);
  const apply = (changes: FilterChanges): void => showReport(withFilters(state, changes));
  const used = describeFilters(state, { now: new Date(), productName });
  return (
    <fieldset class="filter-bar row no-print" aria-label={text.filters}>
      {used.map(({ kind, label, value }) => (
        <Chip key={kind} label={text.chip(label, value)} onRemove={() => apply(removalOf(kind))}>
          {(close) => <FilterEditor kind={kind} state={state} onApply={closing(close, apply)} />}
        </Chip>
      ))}
      <span ref={adder}>
        <Popover label={text.add} icon={Plus}>
          {(close) => <AddFilter state={state} onApply={closing(close, apply)} />}
        </Popover>
      </span>
      {used.length > 1 && (
        <Button variant="quiet" onClick={() => apply(removalOf(...used.map(({ kind }) => kind)))}>
          {text.clearAll}
        </Button>
      )}
    </fieldset>
  );
}

const closing = (close: () => void, apply: (changes: FilterChanges) => void) => (changes: FilterChanges) => {
  close();
  apply(changes);
};

interface FilterProps {
  readonly state: ReportState;
  readonly onApply: (changes: FilterChanges) => void;
}

function AddFilter({ state, onApply }: FilterProps) {
  const [edited, setEdited] = useState<FilterKind>();
  const { options, fault, ...paste } = usePasted(onApply);
  if (edited !== undefined) return <FilterEditor kind={edited} state={state} onApply={onApply} />;
  return (
    <PickList
      label={text.addHint}
      placeholder={text.addHint}
      none={fault ?? text.noSuchFilter}
      {...paste}
      options={(typed) =>
        options ??
        suggestFilters(typed, state.filters, new Date()).map((suggestion) => ({
          key: suggestion.label,
          label: <bdi>{suggestion.label}</bdi>,
          onPick: () => ('edit' in suggestion ? setEdited(suggestion.edit) : onApply(suggestion.apply)),
        }))
      }
    />
  );
}
