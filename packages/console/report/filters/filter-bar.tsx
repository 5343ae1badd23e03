import { useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Plus } from '../../ui/icons.ts';
import { useShortcuts } from '../../ui/keyboard.tsx';
import { PickList } from '../../ui/pick-list.tsx';
import { Popover } from '../../ui/popover.tsx';
import { type FilterChanges, type ReportState, withFilters } from '../link/report-state.ts';
import { showReport } from '../store/report-store.ts';
import { strings } from '../strings.ts';
import { productName } from '../words/product-names.ts';
import { describeFilters, type FilterKind, filterKinds } from './describe-filter.ts';
import type { EditorProps } from './editors/editor-props.ts';
import { ChipEditor, FilterEditor } from './filter-editor.tsx';
import { type AddableFilter, suggestFilters } from './suggest-filters.ts';
import { usePasted } from './use-pasted.ts';

const text = strings.subscriptions;

/** The filters in words, and the list that adds one. */
export function FilterBar({ state }: { state: ReportState }) {
  const adder = useRef<HTMLSpanElement>(null);
  const shortcuts = useRef([
    {
      key: '/',
      label: text.keys.filter,
      run: (event: KeyboardEvent) => {
        event.preventDefault(); // the list must not begin with the key
        adder.current?.querySelector('button')?.click();
      },
    },
  ]);
  useShortcuts(shortcuts.current);
  const apply = (changes: FilterChanges): void => showReport(withFilters(state, changes));
  const filters = describeFilters(state, { now: new Date(), productName });
  const remove = (kinds: readonly FilterKind[]): void =>
    apply(Object.fromEntries(kinds.flatMap((kind) => filterKinds[kind]).map((name) => [name, undefined])));
  return (
    <fieldset class="filter-bar no-print" aria-label={text.filters}>
      {filters.map(({ kind, label, value }) => (
        <Chip key={kind} label={text.chip(label, value)} onRemove={() => remove([kind])}>
          {(close) => <ChipEditor kind={kind} state={state} onApply={closing(close, apply)} />}
        </Chip>
      ))}
      <span ref={adder}>
        <Popover label={text.addFilter} icon={Plus}>
          {(close) => <AddFilter state={state} onApply={closing(close, apply)} />}
        </Popover>
      </span>
      {filters.length > 1 && (
        <Button variant="quiet" onClick={() => remove(filters.map(({ kind }) => kind))}>
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

function AddFilter({ state, onApply }: EditorProps) {
  const [edited, setEdited] = useState<AddableFilter>();
  const { options, fault, ...paste } = usePasted(onApply);
  if (edited !== undefined) return <FilterEditor filter={edited} state={state} onApply={onApply} />;
  return (
    <PickList
      label={text.addFilterHint}
      placeholder={text.addFilterHint}
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
