import { countChanges, countLoaded, type RowChange, selectLastKey, toLastKey } from '../counts/count-changes.ts';
import { toCountedRow } from '../counts/counted-row.ts';
import { makeRoom } from '../records/make-room.ts';
import type { LoadCounts, ReplaceCounts, Row, TenantId } from '../store.ts';
import { type SubscriptionRow, selectAnyTombstone } from '../subscription-row.ts';
import { setSweptRevision } from '../tables/history.ts';
import { commitRevision } from '../tables/revision.ts';
import { dataBytesOf, type ErasedVersions, erasedGrowth, growthOf, sumsOf } from '../tables/storage-use.ts';
import {
  buryRows,
  columnArrays,
  comparedArrays,
  deleteRows,
  findSame,
  insertRows,
  keepRows,
  lastRevision,
  lockTenant,
  removeTombstones,
  selectRows,
  upsertRows,
} from './change-sql.ts';
import { countOnPostgres } from './run-count.ts';
import type { RunStatement } from './statements.ts';

/** The effect of a change on a tenant's rows. */
interface Changed<T> {
  readonly changes: readonly RowChange[];
  readonly result: T;
  /** The import that made the change. */
  readonly importId?: string | undefined;
  /** Erased versions: a response with them must not be cached any longer. */
  readonly erasedVersions?: ErasedVersions;
}

/** Changes rows of a tenant, whose lock is held, to the next revision. */
export type TenantChange<T> = (
  run: RunStatement,
  how: { readonly revision: number; readonly isDistributed: boolean },
) => Promise<Changed<T>>;

interface ChangeTransaction {
  readonly tenant: TenantId;
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
  readonly run: RunStatement;
  /** Tells other processes of the change once it is committed. */
  readonly announce: () => Promise<unknown>;
  readonly facts: () => Promise<{ readonly isDistributed: boolean }>;
}

/**
 * Changes rows of a tenant while holding its lock, and updates the counts, the revision and the
 * tombstones with them, within the budget.
 */
export async function changeRows<T>(
  { tenant, keepsHistory, bytesMax, run, announce, facts }: ChangeTransaction,
  change: TenantChange<T>,
): Promise<T> {
  const [locked, tombstones, [last]] = await Promise.all([
    run(lockTenant, [tenant]),
    run(selectAnyTombstone, [tenant]),
    run(selectLastKey, [tenant]),
  ]);
  const { row: lastRow, next: revision } = lastRevision(locked);
  const { isDistributed } = await facts();
  const done = await change(run, { revision, isDistributed });
  const { changes, result, importId, erasedVersions } = done;
  const inserted = changes.flatMap(({ before, after }) => (before === undefined && after ? [after.id] : []));
  // a row that already existed has no tombstone
  const revived = tombstones.length > 0 && inserted.length > 0 ? await run(removeTombstones, [tenant, inserted]) : [];
  if (changes.length + (erasedVersions?.rows ?? 0) === 0) return result;
  const sums = sumsOf(changes, revived.length);
  const isErasure = erasedVersions !== undefined;
  const keepsVersions = keepsHistory && !isErasure;
  const growth = growthOf(sums, keepsVersions);
  const room = isErasure
    ? { versions: erasedVersions.rows, bytes: growth.total + erasedGrowth(erasedVersions) }
    : await countOnPostgres(run, tenant, makeRoom({ last: lastRow, growth, bytesMax }));
  const versions = (keepsVersions ? sums.before.rows : 0) - room.versions;
  const commit = commitRevision({ ...room, tenant, last: lastRow, keepsHistory, importId, versions });
  await Promise.all([
    countOnPostgres(run, tenant, countChanges(changes, toLastKey(last))),
    ...('sweptRevision' in room ? [run(setSweptRevision, [tenant, room.sweptRevision])] : []),
    ...commit.map((each) => run(...each)),
    announce(),
  ]);
  return result;
}

interface Load {
  readonly tenant: TenantId;
  readonly revision: number;
  readonly rows: readonly SubscriptionRow[];
  /** Whether every row of the import was new so far. */
  readonly expectsNew: boolean;
  readonly importId: string | undefined;
  readonly keepsHistory: boolean;
  /** Ids of rows to remove, any number of times; none of them is in `rows`. */
  readonly removed: readonly string[];
  /**
   * Citus runs an `insert … select` as COPY, which row-level security rejects; an upsert it does
   * not.
   */
  readonly isDistributed: boolean;
}

/** Inserts or updates rows of a tenant, with its lock held; equal rows stay as they are. */
export async function loadRows(run: RunStatement, load: Load): Promise<Changed<ReplaceCounts>> {
  const { tenant, revision, removed, keepsHistory } = load;
  const loaded = await upsertAll(run, load);
  // one statement cannot keep a row twice
  const ids = [...new Set(removed)];
  const rows = ids.length === 0 ? [] : await removeRows(run, tenant, { revision, ids, keepsHistory });
  return {
    ...loaded,
    changes: [...loaded.changes, ...rows.map(toRemoved)],
    result: { ...loaded.result, removed: rows.length },
  };
}

/** Removes rows, and leaves a tombstone of each; returns them as they were. */
export async function removeRows(
  run: RunStatement,
  tenant: TenantId,
  { revision, ids, keepsHistory }: { revision: number; ids: readonly string[]; keepsHistory: boolean },
): Promise<readonly Row[]> {
  const results = await Promise.all([
    ...(keepsHistory ? [run(keepRows, [tenant, revision, ids])] : []),
    run(buryRows, [tenant, revision, ids]),
    run(deleteRows, [tenant, ids]),
  ]);
  return results.at(-1) ?? [];
}

/** The change of a removed row, with its `bytes`. */
export const toRemoved = (row: Row): RowChange => ({ before: toCountedRow(row), bytesBefore: Number(row.bytes) });

async function upsertAll(run: RunStatement, load: Load): Promise<Changed<LoadCounts>> {
  const { tenant, revision, rows, expectsNew, isDistributed, keepsHistory } = load;
  if (!isDistributed && expectsNew && (await insertAll(run, tenant, revision, rows))) {
    const changes = rows.map((after) => ({ after, bytesAfter: dataBytesOf(after) }));
    return toChanged(changes, load);
  }
  const differing = await withoutStored(run, tenant, rows);
  if (differing.length === 0) return toChanged([], load);
  const columns = columnArrays(differing);
  const [ids] = columns; // the first column
  const [stored] = await Promise.all([
    keepsHistory ? run(keepRows, [tenant, revision, ids]) : run(selectRows, [tenant, ids]),
    run(upsertRows, [tenant, revision, ...columns]),
  ]);
  const old = new Map(stored.map((row) => [row.id, toRemoved(row)]));
  const changes = differing.map((after) => ({ ...old.get(after.id), after, bytesAfter: dataBytesOf(after) }));
  return toChanged(changes, load);
}

function toChanged(changes: readonly RowChange[], { rows, importId }: Load): Changed<LoadCounts> {
  const result = countLoaded(rows.length, changes);
  return { changes, result, importId };
}

/** The rows that are not stored as they are. */
async function withoutStored(
  run: RunStatement,
  tenant: TenantId,
  rows: readonly SubscriptionRow[],
): Promise<readonly SubscriptionRow[]> {
  if (rows.length === 0) return rows;
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)); // adjacent keys share pages
  const [found] = await run(findSame, [tenant, ...comparedArrays(sorted)]);
  const same = new Set(
    String(found?.numbers ?? '')
      .split(',')
      .map(Number),
  );
  return sorted.filter((_, index) => !same.has(index + 1));
}

/** Inserts the rows; returns `false`, and inserts none, if an id is stored already. */
async function insertAll(
  run: RunStatement,
  tenant: TenantId,
  revision: number,
  rows: readonly SubscriptionRow[],
): Promise<boolean> {
  await run('savepoint before_rows', []);
  try {
    await run(insertRows, [tenant, revision, ...columnArrays(rows)]);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
    await run('rollback to savepoint before_rows', []);
    return false;
  }
}

/** SQLSTATE of a key that exists. */
const uniqueViolation = '23505';
