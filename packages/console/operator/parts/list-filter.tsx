import { PickList } from '../../ui/pick-list.tsx';
import { strings } from '../strings.ts';
import { useList } from './use-list.ts';

/** Changes of parameters of the address; `undefined` removes one. */
export type FilterChanges = Readonly<Record<string, string | undefined>>;

/** A filter that is complete, as the list of filters offers it. */
interface Suggestion {
  /** The value in words. */
  readonly value: string;
  readonly detail?: string | undefined;
  readonly changes: FilterChanges;
}

interface Suggestions {
  readonly suggest: (typed: string) => readonly Suggestion[];
  /** What was not searched, if anything. */
  readonly note?: string | undefined;
}

/** A filter of a list, kept in parameters of the address. */
export interface ListFilter {
  readonly label: string;
  /** Its parameters. */
  readonly names: readonly string[];
  /** The value of the list's parameter for that of the address; the same if absent. */
  readonly read?: (text: string) => string;
  /** The value of the address in words. */
  readonly describe: (query: URLSearchParams) => string;
  /** Returns what a typed text can mean. A hook: called in each rendering of an open list. */
  readonly useSuggestions: () => Suggestions;
  readonly Editor: (props: { readonly onApply: (changes: FilterChanges) => void }) => preact.JSX.Element;
}

/** The parameters of a list for the filters of the address. */
export const queryOf = (
  filters: readonly ListFilter[],
  query: URLSearchParams,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    filters.flatMap(({ names, read = (text) => text }) =>
      names.map((name) => [name, query.has(name) ? read(query.get(name) ?? '') : undefined]),
    ),
  );

/** A value that a filter offers. */
export interface FilterOption {
  readonly value: string;
  readonly label: string;
  /** The heading in the list. */
  readonly group?: string;
  /** Shown beside the label, and searched too. */
  readonly detail?: string;
}

interface Offer {
  readonly options: readonly FilterOption[];
  /** Which values the options leave out, if any. */
  readonly note?: string | undefined;
}

interface ValueFilter {
  /** The parameter of the address and of the list. */
  readonly name: string;
  readonly label: string;
  /** The values that are offered. */
  readonly options?: readonly FilterOption[];
  /** Reads the values that are offered. A hook. */
  readonly useOptions?: () => Offer;
  /** Whether any other text is a value too. */
  readonly isOpen?: boolean;
}

/** A filter with one value, which is chosen from a list or typed. */
export function valueFilter(filter: ValueFilter): ListFilter {
  const { name, label, options: fixed = [], useOptions = (): Offer => ({ options: fixed }), isOpen = false } = filter;
  const find = (options: readonly FilterOption[], typed: string): readonly FilterOption[] => {
    const wanted = typed.trim().toLowerCase();
    const found = options.filter((option) => `${option.label} ${option.detail ?? ''}`.toLowerCase().includes(wanted));
    const isNew = isOpen && wanted !== '' && !options.some(({ value }) => value === typed.trim());
    return isNew ? [...found, { value: typed.trim(), label: typed.trim() }] : found;
  };
  return {
    label,
    names: [name],
    describe: (query) => {
      const value = query.get(name) ?? '';
      return fixed.find((option) => option.value === value)?.label ?? value;
    },
    useSuggestions: () => {
      const { options, note } = useOptions();
      return {
        suggest: (typed) =>
          find(options, typed).map((option) => ({
            value: option.label,
            detail: option.detail,
            changes: { [name]: option.value },
          })),
        note,
      };
    },
    Editor: ({ onApply }) => {
      const { options, note } = useOptions();
      return (
        <PickList
          label={label}
          placeholder={label}
          none={isOpen ? strings.filters.type : strings.filters.noValue}
          note={() => note}
          options={(typed) =>
            find(options, typed).map(({ value, ...shown }) => ({
              key: value,
              ...shown,
              onPick: () => onApply({ [name]: value }),
            }))
          }
        />
      );
    },
  };
}

/** Tenants and clients that a list offers; others can be typed. */
const offered = 200;

function useTenants(): Offer {
  const { items = [], hasMore } = useList('listTenants', {}, { first: offered });
  return {
    options: items.map(({ tenant }) => ({ value: tenant, label: tenant })),
    note: hasMore ? strings.filters.firstTenants(items.length) : undefined,
  };
}

function useClients(): Offer {
  const { items = [], hasMore } = useList('listClients', {}, { first: offered });
  return {
    options: items.map(({ client_id: id, name, tenant }) => ({
      value: id,
      label: name ?? id,
      detail: name === null ? tenant : id,
    })),
    note: hasMore ? strings.filters.firstClients(items.length) : undefined,
  };
}

interface ClientNames {
  /** Names of the first 200 clients by id; clients without a name are left out. */
  readonly names: ReadonlyMap<string, string>;
  /** The number of clients that were read, if there are more. */
  readonly firstOnly: number | undefined;
}

/** Reads the names of clients. */
export function useClientNames(): ClientNames {
  const { items = [], hasMore } = useList('listClients', {}, { first: offered });
  return {
    names: new Map(items.flatMap(({ client_id: id, name }) => (name === null ? [] : [[id, name] as const]))),
    firstOnly: hasMore ? items.length : undefined,
  };
}

export const tenantFilter = valueFilter({
  name: 'tenant',
  label: strings.tenant,
  useOptions: useTenants,
  isOpen: true,
});

export const clientFilter = valueFilter({
  name: 'client_id',
  label: strings.client,
  useOptions: useClients,
  isOpen: true,
});
