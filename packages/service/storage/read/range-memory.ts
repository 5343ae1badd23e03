import { LRUCache } from 'lru-cache';
import type { FilterRange } from '../counts/range.ts';
import type { OrderKey } from '../order-key.ts';
import type { TenantId } from '../store.ts';
import type { PageQuery, PageRecords } from './page-sql.ts';

/** The range of a filter at a revision, and where a page begins in it. */
export interface KnownRange extends FilterRange {
  readonly revision: number;
  /** Records before the page; `undefined` if only the store knows. */
  readonly passed?: number | undefined;
}

interface ReadPage extends KnownRange {
  readonly records: PageRecords;
  /** Whether more records follow. */
  readonly hasMore: boolean;
}

/** Bytes of a range in memory besides its key. */
const rangeBytes = 200;

/**
 * Remembers the range of each filter, and where the page after each page begins, so that a query
 * that recurs and the next page of a walk need no counts from the store. Nothing in it is trusted
 * on its own: a page returns the revision that it was read at, and is read again with the counts if
 * that is another one. A place is found by the key, filter and order of its page, so a forged
 * cursor finds none.
 */
export class RangeMemory {
  readonly #ranges = new LRUCache<string, KnownRange>({
    max: 20_000,
    maxSize: 8_388_608,
    sizeCalculation: (_range, key) => 2 * key.length + rangeBytes,
  });

  find(tenant: TenantId, { filter, order, position }: PageQuery): KnownRange | undefined {
    const place =
      position.kind === 'after' ? this.#ranges.get(placeKey(tenant, filter, order, position.orderKey)) : undefined;
    if (place !== undefined) return place;
    const range = this.#ranges.get(rangeKey(tenant, filter));
    return range && position.kind === 'offset' ? { ...range, passed: position.skip } : range;
  }

  /** Notes the range of a page, unless it was known, and where the page after it begins. */
  note(tenant: TenantId, { filter, order }: PageQuery, page: ReadPage, known: KnownRange | undefined): void {
    const { records, start, total, revision, passed, hasMore } = page;
    const range = { revision, start, total };
    if (known === undefined) this.#ranges.set(rangeKey(tenant, filter), range);
    if (passed === undefined || records.last === undefined || !hasMore) return;
    this.#ranges.set(placeKey(tenant, filter, order, records.last), { ...range, passed: passed + records.count });
  }
}

const placeKey = (
  tenant: TenantId,
  filter: PageQuery['filter'],
  order: PageQuery['order'],
  { date, id }: OrderKey,
): string => JSON.stringify([tenant, filter, order, date, id]);

const rangeKey = (tenant: TenantId, filter: PageQuery['filter']): string => JSON.stringify([tenant, filter]);
