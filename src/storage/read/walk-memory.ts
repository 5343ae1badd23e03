import { BoundedMap } from '../bounded-map.ts';
import type { OrderKey } from '../order-key.ts';
import type { TenantId } from '../store.ts';
import { isCounted } from '../subscription-filter.ts';
import type { Page, PageQuery, Place } from './counted-page.ts';

const bounds = { entriesMax: 20_000, bytesMax: 8_388_608 };

/**
 * Remembers where the page after each page begins, so that a walk by cursor needs no counts from
 * the store: its next page takes one statement. For a filter that the counts do not know, it also
 * remembers the total, which a walk by page number would count again for each page. A place is
 * never trusted on its own: a page returns the revision that it was read at, and is read again if
 * the place is of another revision. Places are found by their key, filter and order, so a forged
 * cursor finds none.
 */
export class WalkMemory {
  readonly #places = new BoundedMap<Place>({ ...bounds, name: 'walk_places' });

  find(tenant: TenantId, { filter, order, position }: PageQuery): Place | undefined {
    if (position.kind === 'after') return this.#places.get(placeKey(tenant, filter, order, position.orderKey));
    if (position.kind !== 'offset' || isCounted(filter)) return undefined;
    const known = this.#places.get(totalKey(tenant, filter));
    return known && position.skip < known.total ? { ...known, passed: position.skip } : undefined;
  }

  /** Notes the place after a page that begins after `passed` records. */
  note(tenant: TenantId, { filter, order }: PageQuery, page: Page, passed: number): void {
    const { records, total, revision, hasMore } = page;
    if (records.last === undefined || !hasMore) return;
    const place = { revision, passed: passed + records.count, total };
    this.#places.set(placeKey(tenant, filter, order, records.last), place);
    if (!isCounted(filter)) this.#places.set(totalKey(tenant, filter), place);
  }
}

const placeKey = (
  tenant: TenantId,
  filter: PageQuery['filter'],
  order: PageQuery['order'],
  { date, id }: OrderKey,
): string => JSON.stringify([tenant, filter, order, date, id]);

const totalKey = (tenant: TenantId, filter: PageQuery['filter']): string => JSON.stringify([tenant, filter]);
