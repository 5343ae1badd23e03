import { ask, type CountWork } from '../counts/count-work.ts';
import { StorageError } from '../error.ts';
import { removeCommits, removeErasures } from '../maintenance/sweep-history.ts';
import type { Row, TenantSql } from '../store.ts';
import { dataBytes, type Growth, rowBytes } from '../tables/storage-use.ts';

/** The growth of a tenant's charge by a change, and what was removed to make room for it. */
interface Room {
  /** By how many bytes the charge grows, besides the commit time of the change. */
  readonly bytes: number;
  /** Versions that were removed. */
  readonly versions: number;
  /** The oldest revision that is still complete in the history, and since when it was current. */
  readonly historyFrom?: { readonly revision: number; readonly at: number | undefined };
  /** Tombstones up to this revision are no longer complete. */
  readonly sweptRevision?: number;
}

interface Change {
  /** The tenant's row before the change, as `selectRevision` reads it. */
  readonly last: Row;
  readonly growth: Growth;
  /** The budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
}

/**
 * Makes room for a change, whose rows have been written, in its transaction and with the tenant
 * locked. A change that exceeds the budget removes as many of the oldest versions, and then of the
 * oldest tombstones, as it needs. Throws `StorageError` `OVER_BUDGET` if the records grow and the
 * rest does not fit. A change that only shrinks is never refused. Costs no statement within the
 * budget.
 */
export function* makeRoom({ last, growth, bytesMax }: Change): CountWork<Room> {
  const excess = Number(last.charged_bytes) + growth.total + rowBytes.commit - bytesMax;
  if (bytesMax === 0 || excess <= 0) return { bytes: growth.total, versions: 0 };
  // a lowered budget: the whole history must not be removed only for the change to be refused
  if (Number(last.charged_bytes) > bytesMax && growth.records > 0) {
    const [[row] = []] = yield [ask(selectRecordBytes)];
    const needed = Number(row?.bytes ?? 0);
    if (needed > bytesMax) throw overBudget(bytesMax, needed, growth.records);
  }
  const history = yield* trimHistory(excess, last);
  const tombstones = yield* trimTombstones(excess - history.freed);
  const freed = history.freed + tombstones.freed;
  if (freed < excess && growth.records > 0) throw overBudget(bytesMax, bytesMax + excess - freed, growth.records);
  return { ...history.room, ...tombstones.room, bytes: growth.total - freed };
}

/** The error of records that need more bytes than the budget has. */
const overBudget = (bytesMax: number, needed: number, more: number): StorageError =>
  new StorageError(
    'OVER_BUDGET',
    `Cannot store the records: the tenant must stay within its storage budget of ${bytesMax} bytes (TENANT_STORAGE_MAX_MIB) without the history of its records: they need ${needed} bytes, ${more} more than now`,
  );

/** Rows that one statement removes at most. */
const batchRows = 500;

/** What was removed, and the bytes that this has freed. */
interface Trimmed<T> {
  readonly freed: number;
  readonly room: T;
}

/**
 * Removes the oldest versions, and the commit times and erased ranges before them, until `excess`
 * bytes are free.
 */
function* trimHistory(excess: number, last: Row): CountWork<Trimmed<Omit<Room, 'bytes' | 'sweptRevision'>>> {
  let [freed, versions, from] = [0, 0, 0];
  while (freed < excess) {
    const [oldest = []] = yield [ask(selectOldest, batchRows)];
    const removed = oldest.length === 0 ? [] : yield* removeOldest(oldest, excess - freed);
    versions += removed.length;
    // without versions, only the last revision needs its commit time
    from = Math.max(from, ...(removed.length === 0 ? [Number(last.revision)] : removed.map(({ until }) => until)));
    const [commits = [], erasures = []] = yield [
      ask(removeCommits, from, batchRows),
      ask(removeErasures, from, batchRows),
    ];
    const more =
      sum(removed.map(({ bytes }) => bytes)) + commits.length * rowBytes.commit + erasures.length * rowBytes.erasure;
    if (more === 0) break;
    freed += more;
  }
  if (freed === 0) return { freed, room: { versions } };
  const [[commit] = []] = yield [ask(selectCommit, from)];
  const at = commit && Number(commit.committed_at) + 1;
  return { freed, room: { versions, historyFrom: { revision: from, at } } };
}

/** Removes the oldest versions until the given number of bytes is free. */
function* removeOldest(
  oldest: readonly Row[],
  excess: number,
): CountWork<readonly Readonly<Record<'until' | 'bytes', number>>[]> {
  let freed = 0;
  const needed = oldest.findIndex(({ bytes }) => {
    freed += Number(bytes);
    return freed >= excess;
  });
  const [removed = []] = yield [ask(removeOldestVersions, needed === -1 ? oldest.length : needed + 1)];
  return removed.map(({ until_revision: until, bytes }) => ({ until: Number(until), bytes: Number(bytes) }));
}

/** Removes the oldest tombstones until `excess` bytes are free. */
function* trimTombstones(excess: number): CountWork<Trimmed<Pick<Room, 'sweptRevision'>>> {
  let [freed, swept] = [0, 0];
  while (freed < excess) {
    const limit = Math.min(batchRows, Math.ceil((excess - freed) / rowBytes.tombstone));
    const [removed = []] = yield [ask(removeOldestTombstones, limit)];
    if (removed.length === 0) break;
    swept = Math.max(swept, ...removed.map(({ revision }) => Number(revision)));
    freed += removed.length * rowBytes.tombstone;
  }
  return { freed, room: swept > 0 ? { sweptRevision: swept } : {} };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const versionBytes = `${dataBytes()} + ${rowBytes.version}`;

const selectRecordBytes: TenantSql = `select coalesce(sum(${dataBytes()} + ${rowBytes.record}), 0) as bytes
  from subscription where tenant_id = $1`;

const selectOldest: TenantSql = `select ${versionBytes} as bytes from subscription_version
  where tenant_id = $1 order by until_revision limit $2`;

const removeOldestVersions: TenantSql = `delete from subscription_version where tenant_id = $1 and (id, until_revision) in (
    select id, until_revision from subscription_version where tenant_id = $1 order by until_revision limit $2
  ) returning until_revision, ${versionBytes} as bytes`;

const selectCommit: TenantSql =
  'select committed_at from subscription_commit where tenant_id = $1 and revision >= $2 order by revision limit 1';

const removeOldestTombstones: TenantSql = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1 order by revision, id limit $2
  ) returning revision`;
