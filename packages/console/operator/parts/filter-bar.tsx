import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Plus } from '../../ui/icons.ts';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { PickList } from '../../ui/pick-list.tsx';
import { Popover } from '../../ui/popover.tsx';
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

const without = (filters: readonly ListFilter[]): FilterChanges =>
  Object.fromEntries(filters.flatMap(({ names }) => names).map((name) => [name, undefined]));

interface FilterBarProps {
  readonly filters: readonly ListFilter[];
  /** Buttons at the end of the line. */
  readonly children?: ComponentChildren;
}

/** The filters of a list as chips, the list that adds one, and what can be done with the result. */
export function FilterBar({ filters, children }: FilterBarProps) {
  const { query } = currentLocation.value;
  const isUsed = ({ names }: ListFilter): boolean => names.some((name) => query.has(name));
  const used = filters.filter(isUsed);
  const unused = filters.filter((filter) => !isUsed(filter));
  return (
    <div class="toolbar">
      <fieldset class="filter-bar row" aria-label={texts.title}>
        {used.map((filter) => (
          <Chip
            key={filter.label}
            label={texts.chip(filter.label, filter.describe(query))}
            onRemove={() => applyChanges(without([filter]))}
          >
            {(close) => <filter.Editor onApply={closing(close)} />}
          </Chip>
        ))}
        {unused.length > 0 && (
          <Popover label={texts.add} icon={Plus}>
            {(close) => <AddFilter filters={unused} onApply={closing(close)} />}
          </Popover>
        )}
        {used.length > 1 && (
          <Button variant="quiet" onClick={() => applyChanges(without(used))}>
            {texts.clear}
          </Button>
        )}
      </fieldset>
      {children}
    </div>
  );
}

const closing = (close: () => void) => (changes: FilterChanges) => {
  close();
  applyChanges(changes);
};

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
              label: <bdi>{texts.chip(label, value)}</bdi>,
              detail,
              onPick: () => onApply(changes),
            })),
          ),
        ];
      }}
    />
  );
}
