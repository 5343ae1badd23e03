import { BoundedMap } from '../bounded-map.ts';
import type { Store, TenantId } from '../store.ts';
import { spanRowsAimed } from './span.ts';
import { SpanList } from './span-list.ts';

/** Bounds of what is remembered. */
interface SpanMemoryOptions {
  /**
   * How many spans may be loaded for each time that their series was asked for: about as many as
   * cost no more than the counts did that time.
   */
  readonly spansPerAsk?: number;
  /** Bytes of all lists together. */
  readonly bytesMax?: number;
}

/** How often a series was asked for at a revision. */
interface Asks {
  readonly revision: number;
  readonly count: number;
  /** How many rows the series has at least, as far as that is known. */
  readonly rows: number;
}

const asksBounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/** One series takes at most this part of all: a large one must not push all others out. */
const largestShare = 4;

/**
 * What a span takes in a list, with a few statuses: tells what is too large before it is loaded.
 */
const spanBytes = 200;

/**
 * Remembers the spans of series that are asked for again and again at one revision, so that their
 * counts need not be looked up in the store. What is remembered is never taken for true: whatever
 * is read with it says the revision that it was read at, and is read anew without it when that is
 * another one.
 */
export class SpanMemory {
  readonly #spansPerAsk: number;
  readonly #bytesMax: number;
  readonly #lists: BoundedMap<SpanList>;
  readonly #asks = new BoundedMap<Asks>(asksBounds);
  readonly #loading = new Set<string>();

  constructor({ spansPerAsk = 40, bytesMax = 33_554_432 }: SpanMemoryOptions = {}) {
    this.#spansPerAsk = spansPerAsk;
    this.#bytesMax = bytesMax;
    this.#lists = new BoundedMap({
      entriesMax: Number.POSITIVE_INFINITY,
      bytesMax,
      entryBytesMax: bytesMax / largestShare,
      bytesOf: ({ bytes }) => bytes,
    });
  }

  /**
   * Reads with the spans of a series if they are remembered, else without; what `read` gives is the
   * store's own answer either way.
   */
  async use<T extends { readonly revision: number }>(
    store: Pick<Store, 'readTenantOnce'>,
    tenant: TenantId,
    series: string,
    read: (list: SpanList | undefined) => Promise<T>,
  ): Promise<T> {
    const key = `${tenant} ${series}`;
    const list = this.#lists.get(key);
    if (list !== undefined) {
      const answer = await read(list);
      if (answer.revision === list.revision) return answer;
      if (answer.revision > list.revision) this.#forget(key, list);
    }
    const answer = await read(undefined);
    const rowsMax = this.#noteAsk(key, answer.revision);
    if (rowsMax > 0) await this.#load(key, store, tenant, series, rowsMax);
    return answer;
  }

  /**
   * Notes that a series was asked for without its spans; up to how many rows it is now worth
   * loading.
   */
  #noteAsk(key: string, revision: number): number {
    const known = this.#asks.get(key);
    // others were quicker
    if (this.#loading.has(key) || (this.#lists.get(key)?.revision ?? -1) >= revision) return 0;
    const asks = known?.revision === revision ? { ...known, count: known.count + 1 } : { revision, count: 1, rows: 0 };
    this.#asks.set(key, asks);
    const spansMax = Math.min(asks.count * this.#spansPerAsk, this.#bytesMax / largestShare / spanBytes);
    const rowsMax = Math.floor(spansMax * spanRowsAimed);
    return asks.count > 1 && asks.rows <= rowsMax ? rowsMax : 0;
  }

  /** Loads the spans of a series of at most so many rows. */
  async #load(
    key: string,
    store: Pick<Store, 'readTenantOnce'>,
    tenant: TenantId,
    series: string,
    rowsMax: number,
  ): Promise<void> {
    this.#loading.add(key);
    try {
      const [[row] = []] = await store.readTenantOnce(tenant, [{ sql: selectSpans, values: [series, rowsMax] }]);
      const revision = Number(row?.revision ?? 0);
      if (typeof row?.spans === 'string') this.#keep(key, new SpanList(revision, row.spans));
      else this.#asks.set(key, { revision, count: 1, rows: Number(row?.n ?? Number.POSITIVE_INFINITY) });
    } catch {
      // the page that led here has been read; the next one meets the store's failure itself
      this.#asks.delete(key);
    } finally {
      this.#loading.delete(key);
    }
  }

  #keep(key: string, list: SpanList): void {
    if (this.#lists.set(key, list)) return;
    // it has too many statuses
    this.#asks.set(key, { revision: list.revision, count: 1, rows: Number.POSITIVE_INFINITY });
  }

  #forget(key: string, list: SpanList): void {
    if (this.#lists.get(key) === list) this.#lists.delete(key); // else another request has done it
  }
}

/**
 * All spans of a series of at most `$3` rows, as one value, which costs less than rows; and its
 * rows. Neither ids nor statuses hold tabs or line ends.
 */
const selectSpans = `select revision, (
    select n from subscription_span where tenant_id = $1 and series = $2 and level = 2
  ) as n, case when (
    select n from subscription_span where tenant_id = $1 and series = $2 and level = 2
  ) <= $3 then (
    select string_agg(cast(from_date as text) || '\t' || from_id || '\t' || cast(n as text) || '\t' || cast(statuses as text), '\n'
      order by from_date, from_id)
    from subscription_span where tenant_id = $1 and series = $2 and level = 0
  ) end as spans
  from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
