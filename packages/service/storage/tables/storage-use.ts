import type { Directory, ReplaceCounts, Row, Store, TenantId, TenantSql } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';

// What a tenant's rows are charged (docs/decisions/storage.md#budget). The tenant's row has the
// sums; every change adds its own to them, in its transaction and with the tenant locked.

/** Bytes charged to a tenant, by kind. */
export interface StorageUse {
  readonly records: number;
  /** Former versions of records, the times of their revisions, and ranges of erased ones. */
  readonly history: number;
  readonly tombstones: number;
  /** The history of imports. */
  readonly imports: number;
  /** Rejected rows of imports. */
  readonly rejections: number;
}

/** By how many bytes a change lets the rows of a tenant grow; negative if they shrink. */
export type Growth = Pick<StorageUse, 'records' | 'history' | 'tombstones'>;

/**
 * Bytes that a row is charged besides its record and email, for its columns and its entries of
 * indexes: somewhat less than the disk space that both engines need (docs/operators/deployment.md).
 */
export const rowBytes = { record: 800, version: 300, commit: 150, erasure: 100, tombstone: 200, import: 600 } as const;

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
  const [before, after] = [
    { rows: 0, bytes: 0 },
    { rows: 0, bytes: 0 },
  ];
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
 * The sums of a replacement: its counts, and a row with `bytes_before`, `bytes_after`, `revived`.
 */
export const toChangedSums = (
  { inserted, updated, removed }: Pick<ReplaceCounts, 'inserted' | 'updated' | 'removed'>,
  row: Row,
): ChangedSums => ({
  before: { rows: updated + removed, bytes: Number(row.bytes_before) },
  after: { rows: inserted + updated, bytes: Number(row.bytes_after) },
  removed,
  revived: Number(row.revived),
});

/** The growth by a change, besides the commit time of its revision. */
export const growthOf = ({ before, after, removed, revived }: ChangedSums, keepsHistory: boolean): Growth => ({
  records: after.bytes - before.bytes + (after.rows - before.rows) * rowBytes.record,
  history: keepsHistory ? before.bytes + before.rows * rowBytes.version : 0,
  tombstones: (removed - revived) * rowBytes.tombstone,
});

/** The columns of a tenant's row that `useOf` reads. */
export const useColumns =
  'record_bytes, history_bytes, tombstone_bytes, import_bytes, rejection_bytes, bytes_revision' as const;

/**
 * The charge in a tenant's row, or `undefined` if its rows have not been counted since a change.
 */
export function useOf(tenant: Row): StorageUse | undefined {
  const { revision, bytes_revision: counted = null } = tenant;
  if (counted === null || Number(counted) !== Number(revision)) return undefined;
  return {
    records: Number(tenant.record_bytes),
    history: Number(tenant.history_bytes),
    tombstones: Number(tenant.tombstone_bytes),
    imports: Number(tenant.import_bytes),
    rejections: Number(tenant.rejection_bytes),
  };
}

export const totalOf = ({ records, history, tombstones, imports, rejections }: StorageUse): number =>
  records + history + tombstones + imports + rejections;

export const grown = (use: StorageUse, growth: Growth): StorageUse => ({
  ...use,
  records: use.records + growth.records,
  history: use.history + growth.history,
  tombstones: use.tombstones + growth.tombstones,
});

/** The charge after a change that is never refused; `undefined` if the charge before it was. */
export function useAfter(last: Row, growth: Partial<Growth>): StorageUse | undefined {
  const use = useOf(last);
  return use && grown(use, { records: 0, history: 0, tombstones: 0, ...growth });
}

/** Versions that were erased. */
export interface ErasedVersions {
  readonly rows: number;
  /** The bytes of their records and emails. */
  readonly bytes: number;
  /** The ranges of revisions (`ErasedRange`) that were stored for them and for erased records. */
  readonly ranges: number;
}

/** The growth by a change that also erases versions. */
export const withoutVersions = (growth: Growth, { rows, bytes, ranges }: ErasedVersions): Growth => ({
  ...growth,
  history: growth.history - bytes - rows * rowBytes.version + ranges * rowBytes.erasure,
});

/** Adds up erased versions with their `bytes`. */
export const sumErased = (rows: readonly Row[], ranges: number): ErasedVersions => ({
  rows: rows.length,
  bytes: rows.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  ranges,
});

/** Adds up what `useOf` returns from the rows themselves, except the history of imports. */
export const countUse: TenantSql = `select t.import_bytes as imports,
    (select coalesce(sum(${dataBytes()} + ${rowBytes.record}), 0) from subscription where tenant_id = $1) as records,
    (select coalesce(sum(${dataBytes()} + ${rowBytes.version}), 0) from subscription_version where tenant_id = $1)
      + (select count(*) from subscription_commit where tenant_id = $1) * ${rowBytes.commit}
      + (select count(*) from subscription_erasure where tenant_id = $1) * ${rowBytes.erasure} as history,
    (select count(*) from subscription_tombstone where tenant_id = $1) * ${rowBytes.tombstone} as tombstones,
    (select coalesce(sum(octet_length(row_lines)), 0) from import_rejection where tenant_id = $1) as rejections
  from (select id as tenant_id, import_bytes from tenant) as t where t.tenant_id = $1`;

/** The row of `countUse`. */
export const toUse = (row: Row | undefined): StorageUse => ({
  records: Number(row?.records ?? 0),
  history: Number(row?.history ?? 0),
  tombstones: Number(row?.tombstones ?? 0),
  imports: Number(row?.imports ?? 0),
  rejections: Number(row?.rejections ?? 0),
});

/** The tenant as a table with `tenant_id`. */
const itself = 'id in (select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1)' as const;

/** Adds the rejected rows up after a change of them. */
export const countRejections: TenantSql = `update tenant set rejection_bytes = (
    select coalesce(sum(octet_length(row_lines)), 0) from import_rejection where tenant_id = $1
  ) where ${itself} returning id`;

/**
 * Bytes that a tenant is charged; `undefined` after a change by a program that does not count them.
 */
export async function readTenantUse(directory: Directory, tenant: string): Promise<StorageUse | undefined> {
  const [row] = await directory.readDirectory(`select revision, ${useColumns} from tenant where id = $1` as const, [
    tenant,
  ]);
  return row && useOf(row);
}

/** The bytes that a tenant is charged for the records with some ids. */
export async function sumStored(store: Store, tenant: TenantId, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const list = ids.map((_, index) => `$${index + 2}`).join(', ');
  const sql: TenantSql = `select sum(${dataBytes()} + ${rowBytes.record}) as bytes from subscription
    where tenant_id = $1 and id in (${list})`;
  const [[row] = []] = await store.readTenantOnce(tenant, [{ sql, values: ids }]);
  return Number(row?.bytes ?? 0);
}
