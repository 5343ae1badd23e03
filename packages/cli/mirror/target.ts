import type { OriginRecord } from './origin.ts';

/** How old a mirror is. Instants are those of this machine, ISO 8601 in UTC. */
export interface MirrorAges {
  /** New records up to this instant are in the mirror; `null` if that is not known yet. */
  readonly newAsOf: string | null;
  /** Changed and removed records up to this instant are; `null` before the first whole walk. */
  readonly changesAsOf: string | null;
}

/** Where a mirror is kept. */
export interface MirrorTarget {
  /** Takes the tenant for this mirror. Throws `MirrorError` if it has another one, or records. */
  begin(mirror: { readonly id: string; readonly origin: string }): Promise<void>;
  /**
   * Inserts or updates the records and removes those with the ids, in one transaction, durable when
   * it resolves. Returns the ids of records that the tenant rejects, with the reason. Throws
   * `MirrorError` `TARGET_FAULT` if it cannot be reached for a while; applying them again is safe.
   */
  apply(changes: {
    readonly records: readonly OriginRecord[];
    readonly removed: readonly string[];
    readonly ages: MirrorAges;
  }): Promise<ReadonlyMap<string, string>>;
}
