import { BoundedMap } from '../storage/bounded-map.ts';

/** Says when a client's refresh families are to be cut down to so many. */
export interface FamilyLimit {
  /**
   * How many families the client may keep, when it is time to look; `undefined` when it is not.
   * Called once for each new family.
   */
  dueNow(clientId: string): number | undefined;
}

/**
 * Clients that are counted at once; those whose last new family is oldest go first, which only
 * makes us look later.
 */
const bounds = { entriesMax: 10_000, bytesMax: 4_194_304 };

/**
 * Makes the limit of refresh families that a client may have alive. Looking costs as much as the
 * families there are, so it is done once for half as many new ones: a client may have half as many
 * more for a while.
 */
export function createFamilyLimit(familiesMax: number): FamilyLimit {
  const every = Math.max(1, Math.floor(familiesMax / 2));
  const made = new BoundedMap<number>(bounds);
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
