import { BoundedMap } from '../storage/bounded-map.ts';

/** Decides when the refresh families of a client are reduced to their limit. */
export interface FamilyLimit {
  /**
   * Returns how many families the client may keep if it is time to reduce them, otherwise
   * `undefined`. Called once per new family.
   */
  dueNow(clientId: string): number | undefined;
}

/**
 * Clients that are counted at once. The least recently used ones are evicted first, which only
 * makes us reduce their families later.
 */
const bounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/**
 * Creates the limit of active refresh families of a client. A reduction reads all families of the
 * client, so it runs once per half as many new ones: a client may have half as many more for a
 * while.
 */
export function createFamilyLimit(familiesMax: number): FamilyLimit {
  const every = Math.max(1, Math.floor(familiesMax / 2));
  const made = new BoundedMap<number>({ ...bounds, name: 'refresh_families' });
  return {
    dueNow(clientId) {
      const count = (made.get(clientId) ?? 0) + 1;
      made.delete(clientId);
      if (count >= every) return familiesMax;
      made.set(clientId, count);
      return undefined;
    },
  };
}
