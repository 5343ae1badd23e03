import { workerData } from 'node:worker_threads';
import { countChanges, countLoaded, type RowChange, selectLastKey, toLastKey } from '../counts/count-changes.ts';
import { countedColumns, toCountedRow } from '../counts/span.ts';
import type { OrderKey } from '../order-key.ts';
import { repairSubscriptions } from '../records/repair.ts';
import type { LoadCounts, ResumePoint, TenantId } from '../store.ts';
import {
  columnNames,
  rowColumns,
  rowValues,
  type SubscriptionRow,
  selectAnyTombstone,
  selectRevision,
  setRevision,
  valuePlaceholders,
} from '../subscription-row.ts';
import { eraseStatements } from '../tables/delete-tenant.ts';
import { removeOldTombstones, setSweptRevision } from '../tables/history.ts';
import { addLoaded, expectsOnlyNewRows, resumePointStatement } from '../tables/resume-point.ts';
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
connection.run(`${writerPragmas}; pragma cache_size = -6144; pragma wal_autocheckpoint = 8192`);
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

function change(request: TenantChange): LoadCounts | number | undefined {
  switch (request.kind) {
    case 'load':
      return loadRows(request);
    case 'delete':
      return deleteRows(request.tenant, request.ids);
    case 'erase':
      return eraseRows(request.tenant, request.limit);
    case 'sweep':
      return sweepTombstones(request.tenant, request.revision, request.limit);
    case 'recount':
      recountRows(request.tenant, request.nowSeconds);
      return undefined;
  }
}

type Load = TenantChange & { readonly kind: 'load' };

function loadRows(load: Load): LoadCounts {
  const { tenant, rows, resumePoint } = load;
  const revision = nextRevision(tenant);
  const [anyTombstone] = connection.all(selectAnyTombstone, [tenant]);
  const storedLast = toLastKey(connection.first(selectLastKey, [tenant]));
  const changes = writeRows(load, revision);
  // a row that already existed has no tombstone
  const inserted = changes.filter(({ before }) => before === undefined);
  if (anyTombstone !== undefined)
    for (const { after } of inserted) connection.change(removeTombstone, [tenant, after?.id ?? '']);
  recordChanges(tenant, changes, revision, storedLast);
  const counts = countLoaded(rows.length, changes);
  if (resumePoint !== undefined) connection.change(...resumePointStatement(tenant, addLoaded(resumePoint, counts)));
  return counts;
}

/**
 * Inserts or updates rows, in the order of most indexes; equal rows stay as they are. While every
 * row of an import is new, none is looked up first.
 */
function writeRows({ tenant, rows, resumePoint }: Load, revision: number): readonly RowChange[] {
  const isLookedUp = !expectsOnlyNewRows(resumePoint);
  const changes: RowChange[] = [];
  for (const row of rows.toSorted(compareRows)) {
    const isSame = isLookedUp && connection.first(selectSame, [tenant, row.id, row.record, row.email]) !== undefined;
    if (isSame) continue;
    if (connection.change(insertIfNew, [tenant, revision, ...rowValues(row)]) === 1) changes.push({ after: row });
    else changes.push(...updateRow(tenant, row, revision));
  }
  return changes;
}

const compareRows = (a: SubscriptionRow, b: SubscriptionRow): number =>
  a.createdDate - b.createdDate || (a.id < b.id ? -1 : 1);

/**
 * Assigns only the columns that differ, so that only their indexes change. Returns the change, if
 * there is one.
 */
function updateRow(tenant: TenantId, row: SubscriptionRow, revision: number): readonly RowChange[] {
  const stored = connection.first(selectRow, [tenant, row.id]) ?? {};
  const differing = rowColumns.filter(({ name, read }) => stored[name] !== read(row));
  if (differing.length === 0) return [];
  const assigned = differing.map(({ name }, index) => `${name} = $${index + 4}`);
  connection.change(
    `update subscription set ${['revision = $3', ...assigned].join(', ')} where tenant_id = $1 and id = $2`,
    [tenant, row.id, revision, ...differing.map(({ read }) => read(row))],
  );
  return [{ before: toCountedRow(stored), after: row }];
}

function deleteRows(tenant: TenantId, ids: readonly string[]): number {
  const revision = nextRevision(tenant);
  const removed = ids.flatMap((id) => connection.all(deleteRow, [tenant, id]));
  for (const { id } of removed) connection.change(insertTombstone, [tenant, String(id), revision]);
  const changes = removed.map((row) => ({ before: toCountedRow(row) }));
  recordChanges(tenant, changes, revision);
  return removed.length;
}

function eraseRows(tenant: TenantId, limit: number): number {
  for (const sql of eraseStatements) {
    const erased = connection.all(sql, [tenant, limit]).length;
    if (erased > 0) return erased;
  }
  return 0;
}

function sweepTombstones(tenant: TenantId, revision: number, limit: number): number {
  const removed = connection.all(removeOldTombstones, [tenant, revision, limit]).length;
  if (removed > 0) connection.change(setSweptRevision, [tenant, nextRevision(tenant), revision]);
  return removed;
}

function recountRows(tenant: TenantId, nowSeconds: number): void {
  const revision = countOnSqlite(connection, tenant, repairSubscriptions(nowSeconds));
  connection.change(setRevision, [tenant, revision]);
}

/** Updates the counts and the revision in the transaction that changed the rows. */
function recordChanges(tenant: TenantId, changes: readonly RowChange[], revision: number, storedLast?: OrderKey): void {
  if (changes.length === 0) return;
  countOnSqlite(connection, tenant, countChanges(changes, storedLast));
  connection.change(setRevision, [tenant, revision]);
}

/** The tenant's revision after this transaction, if it changes anything. */
function nextRevision(tenant: TenantId): number {
  const [row] = connection.all(selectRevision, [tenant]);
  return Number(row?.revision ?? 0) + 1;
}

const insertIfNew = `insert into subscription (tenant_id, revision, ${columnNames()})
  values ($1, $2, ${valuePlaceholders(3)}) on conflict do nothing`;

const selectSame =
  'select 1 as same from subscription where tenant_id = $1 and id = $2 and record = $3 and email is $4';

const selectRow = `select ${columnNames()} from subscription where tenant_id = $1 and id = $2`;

const deleteRow = `delete from subscription where tenant_id = $1 and id = $2 returning ${countedColumns}`;

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
      readonly resumePoint: ResumePoint | 'finished' | undefined;
    }
  | { readonly kind: 'delete'; readonly tenant: TenantId; readonly ids: readonly string[] }
  | { readonly kind: 'erase'; readonly tenant: TenantId; readonly limit: number }
  | { readonly kind: 'sweep'; readonly tenant: TenantId; readonly revision: number; readonly limit: number }
  | { readonly kind: 'recount'; readonly tenant: TenantId; readonly nowSeconds: number };

export type WriteRequest =
  | (TenantChange & {
      /** How long to wait for another process's write, in milliseconds. */
      readonly waitMs: number;
    })
  | { readonly kind: 'checkpoint' };
