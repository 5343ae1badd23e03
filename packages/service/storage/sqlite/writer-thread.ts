import { workerData } from 'node:worker_threads';
import { countChanges, countLoaded, type RowChange, selectLastKey, toLastKey } from '../counts/count-changes.ts';
import { countedColumns, toCountedRow } from '../counts/counted-row.ts';
import type { OrderKey } from '../order-key.ts';
import { makeRoom } from '../records/make-room.ts';
import { repairSubscriptions } from '../records/repair.ts';
import { sweepHistory } from '../records/sweep-history.ts';
import type { HistorySweep, HistorySwept, RecordOwner, ReplaceCounts, Row, TenantId } from '../store.ts';
import {
  columnNames,
  rowColumns,
  rowValues,
  type SubscriptionRow,
  selectAnyTombstone,
  valuePlaceholders,
  versionColumns,
} from '../subscription-row.ts';
import { eraseStatements } from '../tables/delete-tenant.ts';
import { removeOldTombstones, setSweptRevision } from '../tables/history.ts';
import {
  commitRevision,
  countNewRanges,
  erasedRanges,
  type RevisionCommit,
  selectRevision,
} from '../tables/revision.ts';
import { dataBytes, dataBytesOf, erasedGrowth, growthOf, rowBytes, sumErased, sumsOf } from '../tables/storage-use.ts';
import { eraseVersionsOf } from '../tables/subscription-ids.ts';
import { nextWaitMs, SqliteConnection, writerPragmas } from './connection.ts';
import { countOnSqlite } from './run-count.ts';
import { serveRequests } from './thread.ts';

// The writer thread of the embedded store. Changes of subscriptions, which take time proportional
// to their rows, run here while the main thread keeps serving requests. The store sends a request
// only when no other transaction of this process is open.

const { file } = workerData as WriterStart;
const connection = new SqliteConnection(file, 0);
// With the default cache of 2 MB, a transaction writes pages of the indexes several times. With the
// default of 1,000 pages, most commits copy the whole log (docs/decisions/imports.md#imports).
connection.run(`${writerPragmas}; pragma cache_size = -32768; pragma wal_autocheckpoint = 8192`);
const sleeping = new Int32Array(new SharedArrayBuffer(4));

serveRequests<WriteRequest>((request) => {
  if (request.kind === 'checkpoint') return connection.run('pragma wal_checkpoint(passive)');
  const isErasure = request.kind === 'delete' || request.kind === 'erase';
  // overwrite deleted content with zeros
  connection.run(`pragma secure_delete = ${isErasure ? 'on' : 'fast'}`);
  const deadline = performance.now() + request.waitMs;
  for (let waitMs = 1; !connection.beginWriting(deadline); waitMs = nextWaitMs(waitMs))
    Atomics.wait(sleeping, 0, 0, waitMs);
  return connection.commitAfter(() => change(request));
});

function change(request: TenantChange & ChangeOptions): ReplaceCounts | HistorySwept | number | undefined {
  switch (request.kind) {
    case 'load':
      return loadRows(request);
    case 'delete':
      return deleteRows(request);
    case 'erase':
      return eraseRows(request.tenant, request.limit);
    case 'sweep':
      return sweepTombstones(request);
    case 'sweep history':
      return countOnSqlite(connection, request.tenant, sweepHistory(request.sweep, request.limit));
    case 'recount':
      recountRows(request);
      return undefined;
  }
}

/** One kind of change, with the options of the store. */
type Change<Kind extends TenantChange['kind']> = TenantChange & ChangeOptions & { readonly kind: Kind };

function loadRows(load: Change<'load'>): ReplaceCounts {
  const { tenant, rows, removed } = load;
  const last = readLast(tenant);
  const [anyTombstone] = connection.all(selectAnyTombstone, [tenant]);
  const storedLast = toLastKey(connection.first(selectLastKey, [tenant]));
  const changes = writeRows(load, last.next);
  // a row that already existed has no tombstone
  const inserted = changes.filter(({ before }) => before === undefined);
  let revived = 0;
  if (anyTombstone !== undefined)
    for (const { after } of inserted) revived += connection.change(removeTombstone, [tenant, after?.id ?? '']);
  const gone = removed.flatMap((id) => removeRow(load, id, last.next));
  recordChanges(load, { changes: [...changes, ...gone], revived }, last, storedLast);
  return { ...countLoaded(rows.length, changes), removed: gone.length };
}

/**
 * Inserts or updates rows, in the order of most indexes; equal rows stay as they are. While every
 * row of an import is new, none is looked up first.
 */
function writeRows(load: Change<'load'>, revision: number): readonly RowChange[] {
  const { tenant, rows, expectsNew } = load;
  const changes: RowChange[] = [];
  for (const row of rows.toSorted(compareRows)) {
    const isSame = !expectsNew && connection.first(selectSame, [tenant, row.id, row.record, row.email]) !== undefined;
    if (isSame) continue;
    if (connection.change(insertIfNew, [tenant, revision, ...rowValues(row)]) === 1)
      changes.push({ after: row, bytesAfter: dataBytesOf(row) });
    else changes.push(...updateRow(load, row, revision));
  }
  return changes;
}

const compareRows = (a: SubscriptionRow, b: SubscriptionRow): number =>
  a.createdDate - b.createdDate || (a.id < b.id ? -1 : 1);

/**
 * Assigns only the columns that differ, so that only their indexes change. Returns the change, if
 * there is one.
 */
function updateRow(
  { tenant, keepsHistory }: Change<'load'>,
  row: SubscriptionRow,
  revision: number,
): readonly RowChange[] {
  const stored = connection.first(selectRow, [tenant, row.id]) ?? {};
  const differing = rowColumns.filter(({ name, read }) => stored[name] !== read(row));
  if (differing.length === 0) return [];
  if (keepsHistory) keepVersion(tenant, stored, revision);
  const assigned = differing.map(({ name }, index) => `${name} = $${index + 4}`);
  connection.change(
    `update subscription set ${['revision = $3', ...assigned].join(', ')} where tenant_id = $1 and id = $2`,
    [tenant, row.id, revision, ...differing.map(({ read }) => read(row))],
  );
  return [{ before: toCountedRow(stored), after: row, bytesBefore: storedBytes(stored), bytesAfter: dataBytesOf(row) }];
}

/** Removes a row, which the history keeps. Returns the change, if there was one. */
function removeRow({ tenant, keepsHistory }: Change<'load'>, id: string, revision: number): readonly RowChange[] {
  const stored = connection.first(selectRow, [tenant, id]);
  if (stored === undefined) return [];
  if (keepsHistory) keepVersion(tenant, stored, revision);
  connection.all(deleteRow, [tenant, id]);
  connection.change(insertTombstone, [tenant, id, revision]);
  return [{ before: toCountedRow(stored), bytesBefore: storedBytes(stored) }];
}

const storedBytes = ({ record, email = null }: Row): number =>
  dataBytesOf({ record: String(record), email: email === null ? null : String(email) });

/**
 * Keeps a row as it is stored, until a revision that changes it, unless the row is of a lost
 * revision: its version before may have been current until then.
 */
function keepVersion(tenant: TenantId, { revision: from = 0, ...stored }: Row, until: number): void {
  if (Number(from) >= until) return;
  connection.change(insertVersion, [tenant, until, from, ...rowColumns.map(({ name }) => stored[name] ?? null)]);
}

function deleteRows(change: Change<'delete'>): number {
  const { tenant, ids, owner, keepsHistory } = change;
  const last = readLast(tenant);
  const removed = ids.flatMap((id) => connection.all(deleteRow, [tenant, id]));
  for (const { id } of removed) connection.change(insertTombstone, [tenant, String(id), last.next]);
  const versions = ids.flatMap((id) => connection.all(eraseVersions, [tenant, id]));
  if (owner !== undefined) versions.push(...connection.all(eraseVersionsOf[owner.column], [tenant, owner.value]));
  const changes = removed.map((row) => ({ before: toCountedRow(row), bytesBefore: Number(row.bytes) }));
  const ranges = keepsHistory ? erasedRanges([...removed, ...versions], last.next) : [];
  const stored = ranges.flatMap(({ from, until, n }) => connection.all(addErasure, [tenant, from, until, n]));
  const erased = sumErased(versions, countNewRanges(ranges, stored));
  const bytes = growthOf(sumsOf(changes, 0), false).total + erasedGrowth(erased);
  if (changes.length > 0) countOnSqlite(connection, tenant, countChanges(changes));
  // also if only versions are erased: a response with them must not be cached any longer
  if (removed.length + versions.length > 0) commit(change, last, { versions: -versions.length, bytes });
  return removed.length;
}

function eraseRows(tenant: TenantId, limit: number): number {
  for (const sql of eraseStatements) {
    const erased = connection.all(sql, [tenant, limit]).length;
    if (erased > 0) return erased;
  }
  return 0;
}

function sweepTombstones(change: Change<'sweep'>): number {
  const { tenant, revision, limit } = change;
  const removed = connection.all(removeOldTombstones, [tenant, revision, limit]).length;
  if (removed === 0) return 0;
  connection.change(setSweptRevision, [tenant, revision]);
  commit(change, readLast(tenant), { bytes: -removed * rowBytes.tombstone });
  return removed;
}

function recountRows(change: Change<'recount'>): void {
  const last = readLast(change.tenant);
  const repaired = countOnSqlite(connection, change.tenant, repairSubscriptions(change));
  if (repaired !== undefined) commit(change, last, repaired);
}

/**
 * Updates the counts and the revision in the transaction that changed the rows, within the budget.
 */
function recordChanges(
  load: Change<'load'>,
  { changes, revived }: { readonly changes: readonly RowChange[]; readonly revived: number },
  last: LastRevision,
  storedLast: OrderKey,
): void {
  if (changes.length === 0) return;
  const { tenant, keepsHistory, bytesMax } = load;
  countOnSqlite(connection, tenant, countChanges(changes, storedLast));
  const sums = sumsOf(changes, revived);
  const growth = growthOf(sums, keepsHistory);
  const room = countOnSqlite(connection, tenant, makeRoom({ last: last.row, growth, bytesMax }));
  const kept = keepsHistory ? sums.before.rows : 0;
  if (room.sweptRevision !== undefined) connection.change(setSweptRevision, [tenant, room.sweptRevision]);
  commit(load, last, { ...room, versions: kept - room.versions });
}

/** The last revision of a tenant, and the one after it. */
interface LastRevision {
  readonly row: Row;
  readonly next: number;
}

function readLast(tenant: TenantId): LastRevision {
  const row = connection.first(selectRevision, [tenant]) ?? { revision: 0 };
  return { row, next: Number(row.revision) + 1 };
}

function commit(
  change: TenantChange & ChangeOptions,
  { row: last, next: revision }: LastRevision,
  how: Pick<RevisionCommit, 'revision' | 'beginsHistory' | 'versions' | 'bytes' | 'historyFrom'>,
): void {
  const { tenant, keepsHistory } = change;
  const importId = change.kind === 'load' ? change.importId : undefined;
  for (const statement of commitRevision({ tenant, last, revision, keepsHistory, importId, ...how }))
    connection.change(...statement);
}

const insertIfNew = `insert into subscription (tenant_id, revision, ${columnNames()})
  values ($1, $2, ${valuePlaceholders(3)}) on conflict do nothing`;

const selectSame =
  'select 1 as same from subscription where tenant_id = $1 and id = $2 and record = $3 and email is $4';

const selectRow = `select ${columnNames()}, revision from subscription where tenant_id = $1 and id = $2`;

const insertVersion = `insert into subscription_version (${versionColumns}) values ($1, $2, $3, ${valuePlaceholders(4)})`;

const deleteRow = `delete from subscription where tenant_id = $1 and id = $2
  returning ${countedColumns}, revision as from_revision, ${dataBytes()} as bytes`;

const eraseVersions = `delete from subscription_version where tenant_id = $1 and id = $2
  returning from_revision, until_revision, ${dataBytes()} as bytes`;

const addErasure = `insert into subscription_erasure as e (tenant_id, from_revision, until_revision, n) values ($1, $2, $3, $4)
  on conflict (tenant_id, from_revision, until_revision) do update set n = e.n + excluded.n
  returning from_revision, until_revision, n`;

const insertTombstone = `insert into subscription_tombstone (tenant_id, id, revision) values ($1, $2, $3)
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

const removeTombstone = 'delete from subscription_tombstone where tenant_id = $1 and id = $2';

export interface WriterStart {
  readonly file: string;
}

/** A change to one tenant's subscriptions, in one transaction. */
export type TenantChange =
  | {
      readonly kind: 'load';
      readonly tenant: TenantId;
      readonly rows: readonly SubscriptionRow[];
      readonly expectsNew: boolean;
      readonly importId: string | undefined;
      readonly removed: readonly string[];
    }
  | {
      readonly kind: 'delete';
      readonly tenant: TenantId;
      readonly ids: readonly string[];
      readonly owner: RecordOwner | undefined;
    }
  | { readonly kind: 'erase'; readonly tenant: TenantId; readonly limit: number }
  | { readonly kind: 'sweep'; readonly tenant: TenantId; readonly revision: number; readonly limit: number }
  | {
      readonly kind: 'sweep history';
      readonly tenant: TenantId;
      readonly sweep: HistorySweep;
      readonly limit: number;
    }
  | { readonly kind: 'recount'; readonly tenant: TenantId; readonly nowSeconds: number };

/** How a store changes subscriptions. */
export interface ChangeOptions {
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
}

export type WriteRequest =
  | (TenantChange &
      ChangeOptions & {
        /** Time limit for waiting for another process's write, in milliseconds. */
        readonly waitMs: number;
      })
  | { readonly kind: 'checkpoint' };
