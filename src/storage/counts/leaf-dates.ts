import { BoundedMap } from '../bounded-map.ts';
import { lowerBound } from '../lower-bound.ts';
import type { SqlValue, Store, TenantId } from '../store.ts';
import { and, binder, countedPart, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import type { SpanList } from './span-list.ts';

/** The dates of some 5,000 leaves. */
const bounds = { entriesMax: 10_000, bytesMax: 16_777_216 };

/** The leaves of a filter's product, at the revision of the list. */
interface FilterLeaves {
  readonly tenant: TenantId;
  readonly filter: SubscriptionFilter;
  readonly list: SpanList;
}

/**
 * Caches the dates of the rows of leaves that bounds of filters lie in, in ascending order. With
 * them, how many rows were created before a second is known without the store.
 */
export class LeafDates {
  /** `null` for a leaf that was needed once: at its second use, its dates are loaded. */
  readonly #dates = new BoundedMap<Float64Array | null>({
    ...bounds,
    name: 'count_dates',
    bytesOf: (dates) => dates?.byteLength ?? 0,
  });

  /** How many rows were created before a second; `undefined` unless the dates are cached. */
  rank(leaves: FilterLeaves, seconds: number): number | undefined {
    const { list, filter } = leaves;
    const index = list.leafAt(seconds);
    if (index < 0) return 0;
    const dates = this.#dates.get(cacheKey(leaves, index));
    if (dates === undefined || dates === null) return undefined;
    return list.rowsBefore(index, filter.statuses) + lowerBound(dates.length, (at) => (dates[at] ?? 0) < seconds);
  }

  /**
   * Notes that the dates around some seconds, whose ranks were unknown, are needed, and loads those
   * needed before.
   */
  async need(store: Pick<Store, 'readTenantOnce'>, leaves: FilterLeaves, seconds: readonly number[]): Promise<void> {
    const wanted: number[] = [];
    for (const index of new Set(seconds.map((each) => leaves.list.leafAt(each)))) {
      const key = cacheKey(leaves, index);
      const dates = this.#dates.get(key);
      if (dates === undefined && index >= 0) this.#dates.set(key, null);
      if (dates !== null) continue;
      this.#dates.delete(key); // so that a concurrent request does not load them too
      wanted.push(index);
    }
    if (wanted.length === 0) return;
    // the page was read; if the store is failing, the next page reports it
    await this.#load(store, leaves, wanted).catch(() => undefined);
  }

  async #load(store: Pick<Store, 'readTenantOnce'>, leaves: FilterLeaves, indexes: readonly number[]): Promise<void> {
    const values: SqlValue[] = [];
    const bind = binder(values);
    const columns = indexes.map((index, at) => {
      const { from, until } = leaves.list.bounds(index);
      return `(select string_agg(cast(created_date as text), ' ') from subscription
        where tenant_id = $1${and(filterConditions(countedPart(leaves.filter), bind))}
          and (created_date, id) >= (${bind(from.date)}, ${bind(from.id)})
          and (created_date, id) < (${bind(until.date)}, ${bind(until.id)})) as dates_${at}`;
    });
    const sql = `select revision, ${columns.join(', ')}
      from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
    const [[row] = []] = await store.readTenantOnce(leaves.tenant, [{ sql, values }], { isBounded: true });
    if (Number(row?.revision) !== leaves.list.revision) return;
    for (const [at, index] of indexes.entries()) {
      const text = row?.[`dates_${at}`];
      const dates = typeof text === 'string' ? Float64Array.from(text.split(' '), Number) : new Float64Array();
      this.#dates.set(cacheKey(leaves, index), dates.sort());
    }
  }
}

/** The cache key of a leaf, whose rows are those of the filter's product and statuses. */
const cacheKey = ({ filter, list }: FilterLeaves, index: number): string =>
  `${list.id} ${index} ${filter.statuses?.join() ?? ''}`;
