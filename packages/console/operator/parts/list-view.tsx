import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { IconNode } from '../../ui/icons.ts';
import { Loading, Skeleton } from '../../ui/skeleton.tsx';
import { type Column, DataTable } from './data-table.tsx';
import type { List } from './use-list.ts';

interface ListViewProps<T> {
  readonly label: string;
  readonly list: List<T>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (item: T) => string;
  readonly empty: { readonly icon: IconNode; readonly title: string; readonly text?: string | undefined };
}

/** A list of the API in each of its states. */
export function ListView<T>({ label, list, columns, keyOf, empty }: ListViewProps<T>) {
  const { items, hasMore = false, error, isLoading, reload, showMore } = list;
  const isShort = items !== undefined && items.length === 0;
  return (
    <div class="list-view">
      {error !== undefined && <ErrorNote error={error} onRetry={reload} />}
      {items === undefined && error === undefined && <LoadingRows />}
      {isShort && <EmptyState {...empty} />}
      {items !== undefined && items.length > 0 && (
        <DataTable
          label={label}
          columns={columns}
          items={items}
          keyOf={keyOf}
          isStale={error !== undefined}
          isCut={hasMore}
        />
      )}
      {hasMore && (
        <div class="list-more row gap-3">
          <p class="soft">There are more rows than these.</p>
          <Button busy={isLoading} onClick={showMore}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}

const LoadingRows = () => (
  <Loading>
    {[1, 2, 3, 4].map((row) => (
      <Skeleton key={row} height="2.5em" />
    ))}
  </Loading>
);
