import { BoundedMap } from '../bounded-map.ts';
import type { Store, TenantId } from '../store.ts';
import type { SubscriptionFilter } from '../subscription-filter.ts';
import { type Counts, rememberedCounts, storedCounts } from './counts.ts';
import { LeafDates } from './leaf-dates.ts';
import { leafRowsAimed, seriesOfFilter, spanLevel } from './span.ts';
import { SpanList } from './span-list.ts';

/** Bounds of a `SpanMemory`. */
interface SpanMemoryOptions {
  /**
   * Leaves that may be loaded for each use of the stored counts: about as many as cost what the
   * stored counts cost that time.
   */
  readonly leavesPerAsk?: number;
  /** Bytes of all lists. */
  readonly bytesMax?: number;
}

/** How often the stored counts of a series were used at a revision. */
interface Asks {
  readonly revision: number;
  readonly count: number;
  /** Rows of the series, once a load found too many of them; 0 before. */
  readonly rows: number;
}

const asksBounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/** A list takes at most a fourth of all bytes, so that a large series does not evict all others. */
const largestShare = 4;

/**
 * Estimated bytes of a cached leaf with a few statuses; used to reject a list that is too large
 * before loading it.
 */
const leafBytes = 200;

/**
 * Caches the leaves of series that are used repeatedly at one revision, so that a page needs no
 * counts from the store. They are never trusted on their own: a page returns the revision that it
 * was read at, and is read again with the stored counts if the leaves are of another revision.
 */
export class SpanMemory {
  readonly #leavesPerAsk: number;
  readonly #bytesMax: number;
  readonly #lists: BoundedMap<SpanList>;
  readonly #dates = new LeafDates();
  readonly #asks = new BoundedMap<Asks>({ ...asksBounds, name: 'count_uses' });
  readonly #loading = new Set<string>();

  constructor({ leavesPerAsk = 40, bytesMax = 33_554_432 }: SpanMemoryOptions = {}) {
    this.#leavesPerAsk = leavesPerAsk;
    this.#bytesMax = bytesMax;
    this.#lists = new BoundedMap({
      name: 'count_leaves',
      entriesMax: Number.POSITIVE_INFINITY,
      bytesMax,
      entryBytesMax: bytesMax / largestShare,
      bytesOf: ({ bytes }) => bytes,
    });
  }

  /** Reads with the counts of a filter: the cached ones if possible, otherwise the stored ones. */
  async use<T extends { readonly revision: number }>(
    store: Pick<Store, 'readTenantOnce'>,
    tenant: TenantId,
    filter: SubscriptionFilter,
    read: (counts: Counts) => Promise<T>,
  ): Promise<T> {
    const series = seriesOfFilter(filter);
    const cacheKey = `${tenant} ${series}`;
    const list = this.#lists.get(cacheKey);
    if (list !== undefined) {
      const leaves = { tenant, filter, list };
      const unknown: number[] = [];
      const rankOf = (seconds: number): number | undefined => {
        const rank = this.#dates.rank(leaves, seconds);
        if (rank === undefined) unknown.push(seconds);
        return rank;
      };
      const result = await read(rememberedCounts(filter, list, rankOf));
      if (result.revision === list.revision) {
        if (unknown.length > 0) await this.#dates.need(store, leaves, unknown);
        return result;
      }
      if (result.revision > list.revision) this.#forget(cacheKey, list);
    }
    const result = await read(storedCounts(filter));
    const rowsMax = this.#noteAsk(cacheKey, result.revision);
    if (rowsMax > 0) await this.#load(cacheKey, store, tenant, series, rowsMax);
    return result;
  }

  /** Notes a use of the stored counts; returns the maximum rows of a series worth loading. */
  #noteAsk(cacheKey: string, revision: number): number {
    const known = this.#asks.get(cacheKey);
    // a concurrent request is loading the list, or has done so
    if (this.#loading.has(cacheKey) || (this.#lists.get(cacheKey)?.revision ?? -1) >= revision) return 0;
    const asks = known?.revision === revision ? { ...known, count: known.count + 1 } : { revision, count: 1, rows: 0 };
    this.#asks.set(cacheKey, asks);
    const leavesMax = Math.min(asks.count * this.#leavesPerAsk, this.#bytesMax / largestShare / leafBytes);
    const rowsMax = Math.floor(leavesMax * leafRowsAimed);
    return asks.count > 1 && asks.rows <= rowsMax ? rowsMax : 0;
  }

  /** Loads the leaves of a series, unless it has more than `rowsMax` rows. */
  async #load(
    cacheKey: string,
    store: Pick<Store, 'readTenantOnce'>,
    tenant: TenantId,
    series: string,
    rowsMax: number,
  ): Promise<void> {
    this.#loading.add(cacheKey);
    try {
      const [[row] = []] = await store.readTenantOnce(tenant, [{ sql: selectLeaves, values: [series, rowsMax] }]);
      const revision = Number(row?.revision ?? 0);
      if (typeof row?.spans === 'string') this.#keep(cacheKey, new SpanList(revision, row.spans));
      else this.#asks.set(cacheKey, { revision, count: 1, rows: Number(row?.n ?? Number.POSITIVE_INFINITY) });
    } catch {
      // the page was read; if the store is still failing, the next page reports it
      this.#asks.delete(cacheKey);
    } finally {
      this.#loading.delete(cacheKey);
    }
  }

  #keep(cacheKey: string, list: SpanList): void {
    this.#lists.set(cacheKey, list);
    if (this.#lists.get(cacheKey) === list) return;
    // too large, because it has many statuses
    this.#asks.set(cacheKey, { revision: list.revision, count: 1, rows: Number.POSITIVE_INFINITY });
  }

  #forget(cacheKey: string, list: SpanList): void {
    if (this.#lists.get(cacheKey) === list) this.#lists.delete(cacheKey); // else it was replaced
  }
}

/**
 * The number of rows of a series and, up to `$3` rows, its leaves as one string, which is faster
 * than rows. Neither ids nor statuses contain tabs or line feeds.
 */
const selectLeaves = `select revision, (
    select n from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.root}
  ) as n, case when (
    select n from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.root}
  ) <= $3 then (
    select string_agg(cast(from_date as text) || '\t' || from_id || '\t' || cast(n as text) || '\t' || cast(statuses as text), '\n'
      order by from_date, from_id)
    from subscription_span where tenant_id = $1 and series = $2 and level = ${spanLevel.leaf}
  ) end as spans
  from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
