import { changeKinds } from '../../../src/contract/history.ts';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { filterStatusWord } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';
import { type ChangeFilters, type ListedChange, statusOf, versionsOf } from './listed-changes.ts';

const text = strings.changes;

/** The filters of the address. */
export const filtersOf = (query: URLSearchParams): ChangeFilters => ({
  kind: changeKinds.find((kind) => kind === query.get('kind')),
  status: query.get('status') ?? undefined,
  'product-id': query.get('product-id') ?? undefined,
});

/** Selects the kind of the changes. It is there while they load. */
export const KindFilter = () => (
  <Filter
    name="kind"
    all={text.allKinds}
    value={filtersOf(currentLocation.value.query).kind}
    options={changeKinds.map((kind) => [kind, text.kind[kind]])}
  />
);

interface ChangeFilterBarProps {
  /** All changes, before the filters. */
  readonly changes: readonly ListedChange[];
  readonly filters: ChangeFilters;
}

/** Selects the changes of records that have, or had, a status or a product. */
export function ChangeFilterBar({ changes, filters }: ChangeFilterBarProps) {
  // the newest name of a product counts
  const versions = changes.flatMap(versionsOf).toReversed();
  const statuses = new Map(versions.map(statusOf).map((status) => [status, filterStatusWord(status)]));
  const products = new Map(versions.map(({ product }) => [product.id, product.name || product.id]));
  return (
    <div class="change-filters no-print">
      <Filter name="status" all={text.allStatuses} value={filters.status} options={byWord(statuses)} />
      <Filter name="product-id" all={text.allProducts} value={filters['product-id']} options={byWord(products)} />
    </div>
  );
}

const byWord = (options: ReadonlyMap<string, string>) => [...options].toSorted(([, a], [, b]) => a.localeCompare(b));

interface FilterProps {
  readonly name: keyof ChangeFilters;
  /** The choice of no filter, which also names the filter. */
  readonly all: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, word: string])[];
}

function Filter({ name, all, value = '', options }: FilterProps) {
  // the value of a link may be none of these
  const isOther = value !== '' && !options.some(([known]) => known === value);
  return (
    <select
      class="control change-filter"
      aria-label={text.filter[name]}
      value={value}
      onChange={({ currentTarget }) => choose(name, currentTarget.value)}
    >
      <option value="">{all}</option>
      {options.map(([key, word]) => (
        <option key={key} value={key}>
          {word}
        </option>
      ))}
      {isOther && <option value={value}>{name === 'status' ? filterStatusWord(value) : value}</option>}
    </select>
  );
}

function choose(name: keyof ChangeFilters, value: string): void {
  const { path, query } = currentLocation.value;
  const changed = new URLSearchParams(query);
  if (value === '') changed.delete(name);
  else changed.set(name, value);
  navigate(hrefOf(path, changed), { replace: true });
}
