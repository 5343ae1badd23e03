import type { ComponentChildren } from 'preact';
import type { IconNode } from '../../ui/icons.ts';
import { currentLocation } from '../../ui/location.tsx';
import type { Column } from './data-table.tsx';
import { FilterFields, type ListFilter } from './filter-fields.tsx';
import { ListView } from './list-view.tsx';
import { type Item, type ListId, useList } from './use-list.ts';

interface ListPageProps<Id extends ListId> {
  readonly operation: Id;
  readonly title: string;
  readonly filters: readonly ListFilter[];
  readonly columns: readonly Column<Item<Id>>[];
  readonly keyOf: (item: Item<Id>) => string;
  readonly everyMs?: number;
  readonly empty: {
    readonly icon: IconNode;
    readonly none: string;
    readonly noneHint?: string;
    readonly noneFound: string;
  };
  /** Buttons at the end of the line of filters. */
  readonly actions?: (reload: () => void) => ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A page with a list, which the address filters. */
export function ListPage<Id extends ListId>(props: ListPageProps<Id>) {
  const { operation, title, filters, columns, keyOf, everyMs, empty, actions, children } = props;
  const { query: given } = currentLocation.value;
  const query = Object.fromEntries(filters.map(({ name }) => [name, given.get(name) ?? undefined]));
  const list = useList(operation, query, everyMs === undefined ? {} : { everyMs });
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const { icon, none, noneHint, noneFound } = empty;
  return (
    <>
      <FilterFields filters={filters}>{actions?.(list.reload)}</FilterFields>
      {children}
      <ListView
        label={title}
        list={list}
        columns={columns}
        keyOf={keyOf}
        empty={isFiltered ? { icon, title: noneFound } : { icon, title: none, text: noneHint }}
      />
    </>
  );
}
