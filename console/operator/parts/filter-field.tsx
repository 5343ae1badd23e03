import { useEffect, useState } from 'preact/hooks';
import { Select, TextField } from '../../ui/field.tsx';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { strings } from '../strings.ts';

interface FilterProps {
  /** The parameter of the address and of the list. */
  readonly name: string;
  readonly label: string;
}

/** Sets or removes a parameter of the address. */
function applyFilter(name: string, value: string): void {
  const { path, query } = currentLocation.value;
  const changed = new URLSearchParams(query);
  if (value === '') changed.delete(name);
  else changed.set(name, value);
  navigate(hrefOf(path, changed));
}

/** A text filter of a list. It applies with Enter, or when the field is left. */
export function FilterField({ name, label, hint }: FilterProps & { readonly hint?: string }) {
  const applied = currentLocation.value.query.get(name) ?? '';
  const [text, setText] = useState(applied);
  useEffect(() => setText(applied), [applied]);
  const apply = (): void => {
    if (text.trim() !== applied) applyFilter(name, text.trim());
  };
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextField
        label={label}
        hint={hint}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onBlur={apply}
        autocomplete="off"
        spellcheck={false}
      />
    </form>
  );
}

/** A filter with a few values; the first one shows all. */
export const FilterSelect = ({
  name,
  label,
  options,
}: FilterProps & { readonly options: readonly { readonly value: string; readonly label: string }[] }) => (
  <div class="filter">
    <Select
      label={label}
      options={[{ value: '', label: strings.all }, ...options]}
      value={currentLocation.value.query.get(name) ?? ''}
      onChange={({ currentTarget }) => applyFilter(name, currentTarget.value)}
    />
  </div>
);
