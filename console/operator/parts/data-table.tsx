import type { ComponentChildren } from 'preact';

/** A column of a table. */
export interface Column<T> {
  readonly label: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly isNumber?: boolean;
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
}

/** A table. On a narrow screen each row is a card whose cells have the labels of their columns. */
// the roles are explicit because the cards' `display` would remove them
export const DataTable = <T,>({ label, columns, items, keyOf, isStale = false }: DataTableProps<T>) => (
  // biome-ignore-start lint/a11y/noRedundantRoles: see above
  // biome-ignore-start lint/a11y/useSemanticElements: see above
  <table class="data-table" role="table" aria-label={label} data-stale={isStale}>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map((column) => (
          <th key={column.label} role="columnheader" scope="col" data-number={column.isNumber}>
            {column.label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {items.map((item) => (
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
