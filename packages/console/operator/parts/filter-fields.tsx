import type { ComponentChildren } from 'preact';
import { Button } from '../../ui/button.tsx';
import { Select, SuggestField, TextField } from '../../ui/field.tsx';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { strings } from '../strings.ts';
import { useList } from './use-list.ts';

interface FilterOption {
  readonly value: string;
  readonly label: string;
}

/** A filter of a list: a parameter of the address, and of the operation. */
export interface ListFilter {
  readonly name: string;
  readonly label: string;
  /** Its values; without them, any text is one. */
  readonly options?: readonly FilterOption[];
  /** Reads values to suggest. A hook. */
  readonly useSuggestions?: () => readonly FilterOption[];
  /** Whether it is a time in UTC. */
  readonly isTime?: boolean;
}

/** Tenants and clients that a field suggests; others can be typed. */
const suggested = 200;

export const tenantFilter: ListFilter = {
  name: 'tenant',
  label: strings.tenant,
  useSuggestions: () =>
    (useList('listTenants', {}, { first: suggested }).items ?? []).map(({ tenant }) => ({ value: tenant, label: '' })),
};

/** The first clients by id, and whether there are more. */
export const useClients = () => useList('listClients', {}, { first: suggested });

export const clientFilter: ListFilter = {
  name: 'client_id',
  label: strings.client,
  useSuggestions: () =>
    (useClients().items ?? []).map(({ client_id: value, name, tenant }) => ({ value, label: name ?? tenant })),
};

/** Sets parameters of the address; empty ones are removed. */
function apply(values: Readonly<Record<string, string>>): void {
  const { path, query } = currentLocation.value;
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') changed.delete(name);
    else changed.set(name, value);
  }
  navigate(hrefOf(path, changed));
}

interface FilterFieldsProps {
  readonly filters: readonly ListFilter[];
  /** Buttons at the end of the line. */
  readonly children?: ComponentChildren;
}

/** The filters of a list as fields, and what can be done with the result. */
export function FilterFields({ filters, children }: FilterFieldsProps) {
  const { query } = currentLocation.value;
  return (
    <div class="toolbar row gap-3">
      <fieldset class="filter-fields" aria-label="Filters">
        {filters.map((filter) => (
          <FilterField key={filter.name} filter={filter} value={query.get(filter.name) ?? ''} />
        ))}
      </fieldset>
      {filters.some(({ name }) => query.has(name)) && (
        <Button variant="quiet" onClick={() => apply(Object.fromEntries(filters.map(({ name }) => [name, ''])))}>
          Clear all
        </Button>
      )}
      {children}
    </div>
  );
}

const none = (): readonly FilterOption[] => [];

function FilterField({ filter, value }: { filter: ListFilter; value: string }) {
  const { name, label, options, useSuggestions = none, isTime = false } = filter;
  const suggestions = useSuggestions();
  const choose = (text: string): void => apply({ [name]: text.trim() });
  if (options !== undefined)
    return (
      <Select
        label={label}
        options={[{ value: '', label: 'All' }, ...options]}
        value={value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
    );
  if (isTime)
    return (
      <TextField
        type="datetime-local"
        label={label}
        value={value.slice(0, 16)}
        onChange={({ currentTarget: { value: minute } }) => choose(minute && `${minute.slice(0, 16)}:00Z`)}
      />
    );
  return (
    <SuggestField
      label={label}
      suggestions={suggestions}
      value={value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    />
  );
}
