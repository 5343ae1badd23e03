import { SpanList } from './span-list.ts';
import type { Store, TenantId } from './store.ts';
import { spanRowsAimed } from './subscription-span.ts';

/** What was read by counts, of one moment. */
interface Counted {
  readonly revision: number;
  readonly total: number;
}

interface Series {
  /** The revision at which the series was asked for last, and how often it was at this one. */
  revision: number;
  asks: number;
  list?: SpanList;
}

/** Bounds of what is remembered. */
export interface SpanMemoryOptions {
  /** How many spans may be loaded for each time that their series was asked for: about as many as cost no more than the counts did that time. */
  readonly spansPerAsk?: number;
  /** Spans at most, of all series together; 100,000 of them take some 25 MB. */
  readonly spansMax?: number;
}

const seriesMax = 10_000;

/**
 * Remembers the spans of series that are asked for again and again at one revision, so that their counts need not be looked up in the store. What is remembered is never
 * taken for true: whatever is read with it says the revision that it was read at, and is read anew without it when that is another one.
 */
export class SpanMemory {
  readonly #series = new Map<string, Series>();
  readonly #spansPerAsk: number;
  readonly #spansMax: number;
  #spans = 0;

  constructor({ spansPerAsk = 40, spansMax = 100_000 }: SpanMemoryOptions = {}) {
    this.#spansPerAsk = spansPerAsk;
    this.#spansMax = spansMax;
  }

  /** Reads with the spans of a series if they are remembered, else without; what `read` gives is the store's own answer either way. */
  async use<T extends Counted>(
    store: Pick<Store, 'readTenantOnce'>,
    tenant: TenantId,
    series: string,
    read: (list: SpanList | undefined) => Promise<T>,
  ): Promise<T> {
    const key = `${tenant} ${series}`;
    const known = this.#series.get(key);
    if (known?.list !== undefined) {
      this.#series.delete(key);
      this.#series.set(key, known); // the newest use is last
      const counted = await read(known.list);
      if (counted.revision === known.list.revision) return counted;
    }
    const counted = await read(undefined);
    if (this.#isWorthLoading(key, counted)) this.#keep(key, await loadSpans(store, tenant, series));
    return counted;
  }

  /** Notes that a series was asked for; whether all that was asked at this revision now costs more than loading it would have. */
  #isWorthLoading(key: string, { revision, total }: Counted): boolean {
    const known = this.#series.get(key);
    const asks = known?.revision === revision ? known.asks + 1 : 1;
    const isWorth = asks > 1 && asks * this.#spansPerAsk * spanRowsAimed >= total;
    this.#remove(key);
    this.#series.set(key, { revision, asks: isWorth ? 0 : asks }); // who asks meanwhile does not load it too
    for (const oldest of this.#series.keys()) {
      if (this.#series.size <= seriesMax) break;
      this.#remove(oldest);
    }
    return isWorth;
  }

  #keep(key: string, list: SpanList): void {
    this.#remove(key);
    if (list.length > this.#spansMax / 4) return; // one large series must not push all others out
    this.#series.set(key, { revision: list.revision, asks: 0, list });
    this.#spans += list.length;
    for (const oldest of this.#series.keys()) {
      if (this.#spans <= this.#spansMax) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#spans -= this.#series.get(key)?.list?.length ?? 0;
    this.#series.delete(key);
  }
}

/** All spans of a series, as one value, which costs less than rows. */
async function loadSpans(store: Pick<Store, 'readTenantOnce'>, tenant: TenantId, series: string): Promise<SpanList> {
  const [[row] = []] = await store.readTenantOnce(tenant, [{ sql: selectSpans, values: [series] }]);
  return new SpanList(Number(row?.revision ?? 0), typeof row?.spans === 'string' ? row.spans : '');
}

/** Neither ids nor statuses hold tabs or line ends. */
const selectSpans = `select revision, (
    select string_agg(cast(from_date as text) || '\t' || from_id || '\t' || cast(n as text) || '\t' || cast(statuses as text), '\n'
      order by from_date, from_id)
    from subscription_span where tenant_id = $1 and series = $2 and level = 0
  ) as spans
  from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
