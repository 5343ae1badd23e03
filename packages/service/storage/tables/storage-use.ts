import type { Row, StagedCounts, TenantSql } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

// What a tenant is charged for its records, their history and tombstones
// (docs/decisions/storage.md#budget). The tenant's row has the sum; every change adds its own, in
// its transaction and with the tenant locked.

/** By how many bytes a change lets the charge grow; negative if it shrinks. */
export interface Growth {
  readonly total: number;
  /** Of the records alone, for which history and tombstones make room. */
  readonly records: number;
}

/**
 * Bytes that a row is charged besides its record and email, for its columns and its entries of
 * indexes: somewhat less than the disk space that both engines need (docs/operators/capacity.md).
 */
export const rowBytes = { record: 800, version: 300, commit: 150, erasure: 100, tombstone: 200 } as const;

/** The bytes of a record and its email. */
export const dataBytesOf = ({ record, email }: Pick<SubscriptionRow, 'record' | 'email'>): number =>
  Buffer.byteLength(record) + (email === null ? 0 : Buffer.byteLength(email));

/** The same as SQL; both engines know the length of a column without reading it. */
export const dataBytes = (table = ''): string => {
  const prefix = table === '' ? '' : `${table}.`;
  return `octet_length(${prefix}record) + coalesce(octet_length(${prefix}email), 0)`;
};

/** A change of one row. */
interface ChangedRow {
  readonly before?: unknown;
  readonly after?: unknown;
  readonly bytesBefore?: number;
  readonly bytesAfter?: number;
}

/** The sums of changed rows, and of the bytes of their records and emails. */
interface ChangedSums {
  readonly before: { readonly rows: number; readonly bytes: number };
  readonly after: { readonly rows: number; readonly bytes: number };
  /** Rows that the change removed, and tombstones that ended because their row exists again. */
  readonly removed: number;
  readonly revived: number;
}

export function sumsOf(changes: readonly ChangedRow[], revived: number): ChangedSums {
  const before = { rows: 0, bytes: 0 };
  const after = { rows: 0, bytes: 0 };
  let removed = 0;
  for (const change of changes) {
    if (change.before !== undefined) before.rows += 1;
    if (change.after !== undefined) after.rows += 1;
    else removed += 1;
    before.bytes += change.bytesBefore ?? 0;
    after.bytes += change.bytesAfter ?? 0;
  }
  return { before, after, removed, revived };
}

/**
 * The sums of a staged load: its counts, and a row with `bytes_before`, `bytes_after`, `revived`.
 */
export const toChangedSums = (
  { inserted, updated, removed }: Pick<StagedCounts, 'inserted' | 'updated' | 'removed'>,
  row: Row,
): ChangedSums => ({
  before: { rows: updated + removed, bytes: Number(row.bytes_before) },
  after: { rows: inserted + updated, bytes: Number(row.bytes_after) },
  removed,
  revived: Number(row.revived),
});

/** The growth by a change, besides the commit time of its revision. */
export function growthOf({ before, after, removed, revived }: ChangedSums, keepsHistory: boolean): Growth {
  const records = after.bytes - before.bytes + (after.rows - before.rows) * rowBytes.record;
  const history = keepsHistory ? before.bytes + before.rows * rowBytes.version : 0;
  return { records, total: records + history + (removed - revived) * rowBytes.tombstone };
}

/** By how much erased versions let the charge grow, with how many are noted, records among them. */
export const erasedGrowth = (versions: readonly Row[], noted: number): number =>
  versions.reduce((sum, { bytes }) => sum - Number(bytes) - rowBytes.version, noted * rowBytes.erasure);

/** Reads what a tenant is charged, and adds the same up from its rows. */
export const countCharge: TenantSql = `select t.charged_bytes as charged,
    (select coalesce(sum(${dataBytes()} + ${rowBytes.record}), 0) from subscription where tenant_id = $1)
      + (select coalesce(sum(${dataBytes()} + ${rowBytes.version}), 0) from subscription_version where tenant_id = $1)
      + (select count(*) from subscription_commit where tenant_id = $1) * ${rowBytes.commit}
      + (select count(*) from subscription_erasure where tenant_id = $1) * ${rowBytes.erasure}
      + (select count(*) from subscription_tombstone where tenant_id = $1) * ${rowBytes.tombstone} as counted
  from (select id as tenant_id, charged_bytes from tenant) as t where t.tenant_id = $1`;
