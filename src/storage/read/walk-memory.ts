import { BoundedMap } from '../bounded-map.ts';
import type { OrderKey } from '../order-key.ts';
import type { TenantId } from '../store.ts';
import type { Page, PageQuery, Place } from './counted-page.ts';

const bounds = { entriesMax: 20_000, bytesMax: 8_388_608 };

/**
 * Remembers where the page after each page begins, so that a walk by cursor needs no counts from
 * the store: its next page takes one statement. A place is never trusted on its own: a page returns
 * the revision that it was read at, and is read again if the place is of another revision. Places
 * are found by their key, filter and order, so a forged cursor finds none.
 */
export class WalkMemory {
  readonly #places = new BoundedMap<Place>({ ...bounds, name: 'walk_places' });

  find(tenant: TenantId, { filter, order, position }: PageQuery): Place | undefined {
    return position.kind === 'after' ? this.#places.get(placeKey(tenant, filter, order, position.orderKey)) : undefined;
  }

  /** Notes the place after a page that begins after `passed` records. */
  note(tenant: TenantId, { filter, order }: PageQuery, page: Page, passed: number): void {
    const { records, total, revision, hasMore } = page;
    if (records.last === undefined || !hasMore) return;
    const place = { revision, passed: passed + records.count, total };
    this.#places.set(placeKey(tenant, filter, order, records.last), place);
  }
}

const placeKey = (
  tenant: TenantId,
  filter: PageQuery['filter'],
  order: PageQuery['order'],
  { date, id }: OrderKey,
): string => JSON.stringify([tenant, filter, order, date, id]);
