import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { PickList } from '../../ui/pick-list.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { strings } from '../strings.ts';
import type { FilterChanges, ListFilter } from './list-filter.tsx';

const { filters: texts } = strings;

/** Changes parameters of the address. */
function applyChanges(changes: FilterChanges): void {
  const { path, query } = currentLocation.value;
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  navigate(hrefOf(path, changed));
}

const without = (...filters: readonly ListFilter[]): FilterChanges =>
  Object.fromEntries(filters.flatMap(({ names }) => names).map((name) => [name, undefined]));

interface FilterBarProps {
  readonly filters: readonly ListFilter[];
  /** Buttons at the end of the line. */
  readonly children?: ComponentChildren;
}

/** The filters of a list, and what can be done with the result. */
export function ListFilterBar({ filters, children }: FilterBarProps) {
  const { query } = currentLocation.value;
  const isUsed = ({ names }: ListFilter): boolean => names.some((name) => query.has(name));
  const unused = filters.filter((filter) => !isUsed(filter));
  return (
    <div class="toolbar">
      <FilterBar
        used={filters
          .filter(isUsed)
          .map((filter) => ({ kind: filter, label: filter.label, value: filter.describe(query) }))}
        removalOf={without}
        onApply={applyChanges}
        editor={(filter, onApply) => <filter.Editor onApply={onApply} />}
        adder={unused.length === 0 ? undefined : (onApply) => <AddFilter filters={unused} onApply={onApply} />}
      />
      {children}
    </div>
  );
}

interface AddFilterProps {
  readonly filters: readonly ListFilter[];
  readonly onApply: (changes: FilterChanges) => void;
}

/** The filters by name; a typed text also finds their values. */
function AddFilter({ filters, onApply }: AddFilterProps) {
  const [edited, setEdited] = useState<ListFilter>();
  const suggestions = filters.map((filter) => ({ filter, ...filter.useSuggestions() }));
  if (edited !== undefined) return <edited.Editor onApply={onApply} />;
  return (
    <PickList
      label={texts.addHint}
      placeholder={texts.addHint}
      none={texts.noValue}
      note={(typed) => {
        const notes = typed.trim() === '' ? [] : suggestions.flatMap(({ note = [] }) => note);
        return notes.length === 0 ? undefined : notes.join(' ');
      }}
      options={(typed) => {
        const names = filters.filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()));
        const values = typed.trim() === '' ? [] : suggestions;
        return [
          ...names.map((filter) => ({ key: filter.label, label: filter.label, onPick: () => setEdited(filter) })),
          ...values.flatMap(({ filter: { label }, suggest }) =>
            suggest(typed).map(({ value, detail, changes }) => ({
              key: `${label} ${Object.values(changes).join(' ')}`,
              label: <bdi>{shared.filters.chip(label, value)}</bdi>,
              detail,
              onPick: () => onApply(changes),
            })),
          ),
        ];
      }}
    />
  );
}
