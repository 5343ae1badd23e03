import type { CountRequest, CountWork } from '../counts/count-work.ts';
import { StorageError } from '../error.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import {
  countUse,
  dataBytes,
  type Growth,
  grown,
  rowBytes,
  type StorageUse,
  totalOf,
  toUse,
  useOf,
} from '../tables/storage-use.ts';
import { removeErasures } from './sweep-history.ts';

/** The charge of a tenant after a change, and what was removed to make room for it. */
interface Room {
  readonly use: StorageUse;
  /** Versions that were removed. */
  readonly versions: number;
  /** The oldest revision that is still complete in the history, and since when it was current. */
  readonly historyFrom?: { readonly revision: number; readonly at: number | undefined };
  /** Tombstones up to this revision are no longer complete. */
  readonly sweptRevision?: number;
}

interface Change {
  /** The tenant's row before the change, with the columns of `useColumns`. */
  readonly last: Row;
  readonly growth: Growth;
  /** The budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
}

/**
 * Adds the growth of a change, whose rows have been written, to what the tenant is charged, in its
 * transaction and with the tenant locked. A change that exceeds the budget removes as many of the
 * oldest versions, and then of the oldest tombstones, as it needs. Throws `StorageError`
 * `OVER_BUDGET` if it grows and the rest does not fit. A change that only shrinks is never refused.
 *
 * Costs no statement within the budget, unless a program that does not count bytes has changed the
 * tenant.
 */
export function* makeRoom({ last, growth, bytesMax }: Change): CountWork<Room> {
  const known = useOf(last);
  const use = known === undefined ? yield* countRows() : grown(known, growth);
  const fitting = bytesMax - rowBytes.commit; // that of the change itself is charged later
  if (bytesMax === 0 || totalOf(use) <= fitting) return { use, versions: 0 };
  requireRoom(use, growth, bytesMax);
  const history = yield* trimHistory(use, fitting, last);
  const swept = yield* trimTombstones(history.use, fitting);
  return { ...history, ...swept };
}

function* countRows(): CountWork<StorageUse> {
  const [[counted] = []] = yield [ask(countUse)];
  return toUse(counted);
}

/** Throws `StorageError` `OVER_BUDGET` if a change grows and cannot fit into the budget. */
export function requireRoom(use: StorageUse, growth: Growth, bytesMax: number): void {
  const required = use.records + use.imports + use.rejections + lastCommits;
  if (bytesMax === 0 || required <= bytesMax || growth.records <= 0) return;
  throw new StorageError(
    'OVER_BUDGET',
    `Cannot store the records: the tenant must stay within its storage budget of ${bytesMax} bytes (TENANT_STORAGE_MAX_MIB) without the history of its records: they need ${required} bytes, ${growth.records} more than now`,
  );
}

/** The times of the last two revisions stay. */
const lastCommits = 2 * rowBytes.commit;

/** Rows that one statement removes at most. */
const batchRows = 500;

/**
 * Removes the oldest versions, and the commit times and erased ranges before them, until the rest
 * fits.
 */
function* trimHistory(before: StorageUse, bytesMax: number, last: Row): CountWork<Room> {
  let use = before;
  let versions = 0;
  let from = 0;
  while (totalOf(use) > bytesMax && use.history > 0) {
    const [oldest = []] = yield [ask(selectOldest, batchRows)];
    const removed = oldest.length === 0 ? [] : yield* removeOldest(oldest, totalOf(use) - bytesMax);
    versions += removed.length;
    // without versions, only the last revision needs its commit time
    from = Math.max(from, ...(removed.length === 0 ? [Number(last.revision)] : removed.map(({ until }) => until)));
    const [commits = [], erasures = []] = yield [
      ask(removeCommits, from, batchRows),
      ask(removeErasures, from, batchRows),
    ];
    const freed =
      sum(removed.map(({ bytes }) => bytes)) + commits.length * rowBytes.commit + erasures.length * rowBytes.erasure;
    if (freed === 0) break;
    use = { ...use, history: use.history - freed };
  }
  if (from === 0) return { use, versions };
  const [[commit] = []] = yield [ask(selectCommit, from)];
  return { use, versions, historyFrom: { revision: from, at: commit && Number(commit.committed_at) + 1 } };
}

interface RemovedVersion {
  readonly until: number;
  readonly bytes: number;
}

/** Removes the oldest versions until the given number of bytes is free. */
function* removeOldest(oldest: readonly Row[], excess: number): CountWork<readonly RemovedVersion[]> {
  let freed = 0;
  const needed = oldest.findIndex(({ bytes }) => {
    freed += Number(bytes);
    return freed >= excess;
  });
  const [removed = []] = yield [ask(removeVersions, needed === -1 ? oldest.length : needed + 1)];
  return removed.map(({ until_revision: until, bytes }) => ({ until: Number(until), bytes: Number(bytes) }));
}

/** Removes the oldest tombstones until the rest fits. */
function* trimTombstones(before: StorageUse, bytesMax: number): CountWork<Pick<Room, 'use' | 'sweptRevision'>> {
  let use = before;
  let swept = 0;
  while (totalOf(use) > bytesMax && use.tombstones > 0) {
    const limit = Math.min(batchRows, Math.ceil((totalOf(use) - bytesMax) / rowBytes.tombstone));
    const [removed = []] = yield [ask(removeTombstones, limit)];
    if (removed.length === 0) break;
    swept = Math.max(swept, ...removed.map(({ revision }) => Number(revision)));
    use = { ...use, tombstones: use.tombstones - removed.length * rowBytes.tombstone };
  }
  return { use, ...(swept > 0 && { sweptRevision: swept }) };
}

const ask = (sql: TenantSql, ...values: SqlValue[]): CountRequest => ({ kind: 'read', sql, values });

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const versionBytes = `${dataBytes()} + ${rowBytes.version}`;

const selectOldest: TenantSql = `select ${versionBytes} as bytes from subscription_version
  where tenant_id = $1 order by until_revision limit $2`;

const removeVersions: TenantSql = `delete from subscription_version where tenant_id = $1 and (id, until_revision) in (
    select id, until_revision from subscription_version where tenant_id = $1 order by until_revision limit $2
  ) returning until_revision, ${versionBytes} as bytes`;

const removeCommits: TenantSql = `delete from subscription_commit where tenant_id = $1 and revision in (
    select revision from subscription_commit where tenant_id = $1 and revision < $2 order by revision limit $3
  ) returning revision`;

const selectCommit: TenantSql =
  'select committed_at from subscription_commit where tenant_id = $1 and revision >= $2 order by revision limit 1';

const removeTombstones: TenantSql = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1 order by revision, id limit $2
  ) returning revision`;
