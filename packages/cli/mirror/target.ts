import type { OriginRecord } from './origin.ts';

/** How old a mirror is. Instants are those of this machine, ISO 8601 in UTC. */
export interface MirrorAges {
  /** New records up to this instant are in the mirror; `null` if that is not known yet. */
  readonly newAsOf: string | null;
  /** Changed and removed records up to this instant are; `null` before the first whole walk. */
  readonly changesAsOf: string | null;
}

/** What a mirror has not applied; `null` is not known yet. */
export interface MirrorCounts {
  readonly rejected: number | null;
  readonly heldBack: number | null;
  readonly unconfirmed: number | null;
}

/** Where a mirror is kept. */
export interface MirrorTarget {
  /** Takes the tenant for this mirror. Throws `MirrorError` if it has another one, or records. */
  begin(mirror: { readonly id: string; readonly origin: string }): Promise<void>;
  /**
   * Inserts or updates the records and removes those with the ids, in one transaction, durable when
   * it resolves. Throws `MirrorError` `TARGET_FAULT` if it cannot be reached for a while; applying
   * them again is safe.
   */
  apply(changes: {
    readonly records: readonly OriginRecord[];
    readonly removed: readonly string[];
    readonly ages: MirrorAges;
    /** Without them, the tenant keeps those that it knows. */
    readonly counts?: MirrorCounts | undefined;
    /** The token that the last `apply` returned. */
    readonly token: string | undefined;
  }): Promise<Applied>;
  /** The records of the tenant by id, a page at a time. */
  list(): AsyncIterable<readonly TenantRecord[]>;
}

/** What became of changes. */
export interface Applied {
  /** The ids of records that the tenant rejects, with the reason. */
  readonly rejections: ReadonlyMap<string, string>;
  /** Digests of the records as the tenant stores them, by id. */
  readonly digests: ReadonlyMap<string, string>;
  readonly token: string;
  /** Whether the tenant was as the given token says. */
  readonly isExpected: boolean;
}

/** A record that a tenant has. */
export interface TenantRecord {
  readonly id: string;
  readonly iccid: string;
  /** createdDate, UTC epoch seconds. */
  readonly created: number;
  readonly digest: string;
}

/** A record as the tenant has it. */
export interface SentRecord {
  /** Its digest; empty if the tenant has no version of it. */
  readonly stored: string;
  /** Whether the tenant must have it: else it is sent again. */
  readonly isSent: boolean;
}
