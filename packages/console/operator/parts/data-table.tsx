import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** A column of a table. */
export interface Column<T> {
  readonly label: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** What the rows can be sorted by if they are all of the list; missing values come last. */
  readonly sortValue?: (item: T) => string | number | null | undefined;
  /** On a narrow screen, whether it has a line of its own. */
  readonly isWide?: boolean;
}

interface DataTableProps<T> {
  /** What the rows are. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  /** The rows are out of date, because they could not be read again. */
  readonly isStale?: boolean;
  /** The list has further rows: sorted, the first of these would be taken for the first of all. */
  readonly isCut?: boolean;
}

/** A table. On a narrow screen each row is a card whose cells have the labels of their columns. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { label, items, keyOf, isStale = false, isCut = false } = props;
  const columns: readonly Column<T>[] = isCut
    ? props.columns.map(({ sortValue: _, ...column }) => column)
    : props.columns;
  const { sorted, orderOf, sortBy } = useSorted(columns, items);
  return (
    // the roles are explicit because the cards' `display` would remove them
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    // biome-ignore-start lint/a11y/useSemanticElements: see above
    <table class="data-table" role="table" aria-label={label} data-stale={isStale}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.label}
              role="columnheader"
              scope="col"
              data-number={column.isNumber}
              aria-sort={column.sortValue && orderOf(column)}
            >
              {column.sortValue === undefined ? (
                column.label
              ) : (
                <button type="button" class="sort-button bare" onClick={() => sortBy(column)}>
                  {column.label}
                  <span aria-hidden="true" data-copied="">
                    {arrows[orderOf(column)]}
                  </span>
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {sorted.map((item) => (
          <tr key={keyOf(item)} role="row">
            {columns.map((column) => (
              <td
                key={column.label}
                role="cell"
                data-label={column.label}
                data-number={column.isNumber}
                data-wide={column.isWide}
              >
                {column.cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/useSemanticElements: see above
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

type Order = 'ascending' | 'descending' | 'none';

const arrows: { readonly [Each in Order]: string } = { ascending: ' ↑', descending: ' ↓', none: '' };

interface Sorted<T> {
  readonly sorted: readonly T[];
  readonly orderOf: (column: Column<T>) => Order;
  /** Sorts by a column: numbers from the largest, strings from A; again for the other order. */
  readonly sortBy: (column: Column<T>) => void;
}

/** The rows in the order that the reader chose; as they are at first. */
function useSorted<T>(columns: readonly Column<T>[], items: readonly T[]): Sorted<T> {
  const [chosen, setChosen] = useState<{ label: string; isDescending: boolean }>();
  const read = columns.find(({ label }) => label === chosen?.label)?.sortValue;
  const sign = chosen?.isDescending === true ? -1 : 1;
  return {
    sorted: read === undefined ? items : items.toSorted((a, b) => compare(read(a), read(b), sign)),
    orderOf: ({ label }) => {
      if (label !== chosen?.label) return 'none';
      return chosen.isDescending ? 'descending' : 'ascending';
    },
    sortBy: ({ label, isNumber = false }) =>
      setChosen((before) => ({ label, isDescending: before?.label === label ? !before.isDescending : isNumber })),
  };
}

type Sortable = string | number | null | undefined;

function compare(a: Sortable, b: Sortable, sign: number): number {
  if (a == null || b == null) return Number(a == null) - Number(b == null);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * String(a).localeCompare(String(b));
}
