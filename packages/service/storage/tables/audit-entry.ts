import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Directory,
  type DirectoryStatement,
  directoryStatement,
  type Row,
  type SqlValue,
  type Store,
} from '../store.ts';
import { inBatches } from './in-batches.ts';
import { writeOne } from './write-one.ts';

/** An entry of the audit log to be added (docs/operators/audit.md). */
export interface NewAuditEntry {
  /** UTC epoch seconds. */
  readonly recordedAt: number;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly address: string | null;
  readonly action: string;
  readonly tenant: string | null;
  readonly clientId: string | null;
  readonly outcome: string;
  /** Error code of an action that was refused or failed. */
  readonly error: string | null;
  readonly correlationId: string | null;
  /** A JSON object of at most 2,000 characters. */
  readonly details: string;
}

/** A stored entry. Ids grow in the order in which entries are committed. */
export interface AuditEntryRow extends NewAuditEntry {
  readonly id: number;
}

/** Conditions on entries, combined with AND; an absent one matches all. */
interface AuditFilter {
  /** First second, in UTC epoch seconds. */
  readonly since?: number | undefined;
  /** The second after the last one, in UTC epoch seconds. */
  readonly until?: number | undefined;
  readonly tenant?: string | undefined;
  readonly clientId?: string | undefined;
  readonly action?: string | undefined;
  /** Id or name of the actor. */
  readonly actor?: string | undefined;
  readonly outcome?: string | undefined;
}

/** Where a page of entries begins, and in which direction it goes. */
interface AuditPage {
  readonly limit: number;
  /** Newest first, only ids below this one. */
  readonly before?: number | undefined;
  /** Oldest first, only ids above this one. */
  readonly after?: number | undefined;
}

interface AuditEntries {
  readonly entries: readonly AuditEntryRow[];
  /** The last id that was looked at; the next page begins after it. */
  readonly reached: number;
  readonly hasMore: boolean;
}

/** Ids that one statement looks at: some 10 ms, during which SQLite serves no other request. */
const windowIds = 10_000;
/** Statements per page: a filter that matches little returns a short page. */
const windowsMax = 50;

/** Entries removed per transaction. */
const sweepRows = 1_000;

function auditStatement(entry: NewAuditEntry): DirectoryStatement {
  return directoryStatement(
    `insert into audit_entry (recorded_at, actor_kind, actor_id, actor_name, address, action, tenant, client_id, outcome, error,
       correlation_id, details)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id`,
    [
      ...[entry.recordedAt, entry.actorKind, entry.actorId, entry.actorName, entry.address, entry.action],
      ...[entry.tenant, entry.clientId, entry.outcome, entry.error, entry.correlationId, entry.details],
    ],
  );
}

/** Adds entries in one transaction, durable when it resolves, and returns their ids. */
export async function insertAuditEntries(
  store: Directory,
  entries: readonly NewAuditEntry[],
): Promise<readonly number[]> {
  const results = await store.writeDirectory(entries.map(auditStatement));
  return results.map(([row]) => Number(row?.id));
}

/** Lists entries, newest first, or oldest first after an id. A short page may have more. */
export async function listAuditEntries(
  store: Store,
  filter: AuditFilter,
  { limit, before, after }: AuditPage,
): Promise<AuditEntries> {
  const [bounds] = await store.readDirectory('select min(id) as oldest, max(id) as newest from audit_entry');
  const [oldest, newest] = [Number(bounds?.oldest ?? 1), Number(bounds?.newest ?? 0)];
  const entries: AuditEntryRow[] = [];
  const isForward = after !== undefined;
  let reached = isForward ? Math.max(after, oldest - 1) : Math.min(before ?? newest + 1, newest + 1);
  const hasMore = () => (isForward ? reached < newest : reached > oldest);
  for (let windows = 0; windows < windowsMax && hasMore() && entries.length < limit; windows += 1) {
    const ids = isForward
      ? [reached + 1, Math.min(reached + windowIds, newest)]
      : [Math.max(reached - windowIds, oldest), reached - 1];
    const rows = await readWindow(store, filter, ids, { isForward, limit: limit - entries.length });
    entries.push(...rows);
    const isFull = entries.length === limit;
    reached = Number(isFull ? entries.at(-1)?.id : isForward ? ids[1] : ids[0]);
    await nextTurn(); // let pending requests run first
  }
  return { entries, reached, hasMore: hasMore() };
}

async function readWindow(
  store: Store,
  filter: AuditFilter,
  ids: readonly number[],
  { isForward, limit }: { readonly isForward: boolean; readonly limit: number },
): Promise<readonly AuditEntryRow[]> {
  const values: readonly SqlValue[] = [
    ...[...ids, limit, filter.since ?? null, filter.until ?? null, filter.tenant ?? null],
    ...[filter.clientId ?? null, filter.action ?? null, filter.actor ?? null, filter.outcome ?? null],
  ];
  const rows = await (isForward ? store.readDirectory(selectForward, values) : store.readDirectory(selectBack, values));
  return rows.map(toEntry);
}

const matching =
  `select id, recorded_at, actor_kind, actor_id, actor_name, address, action, tenant, client_id, outcome, error,
    correlation_id, details
  from audit_entry where id between $1 and $2
    and (cast($4 as bigint) is null or recorded_at >= $4) and (cast($5 as bigint) is null or recorded_at < $5)
    and (cast($6 as text) is null or tenant = $6) and (cast($7 as text) is null or client_id = $7)
    and (cast($8 as text) is null or action = $8) and (cast($9 as text) is null or actor_id = $9 or actor_name = $9)
    and (cast($10 as text) is null or outcome = $10)` as const;
const selectBack = `${matching} order by id desc limit $3` as const;
const selectForward = `${matching} order by id limit $3` as const;

/**
 * When the last backup ended, in UTC epoch seconds; `undefined` if the log has none, by a command
 * of this program or recorded for another tool.
 */
export async function findLastBackup(store: Store): Promise<number | undefined> {
  const [row] = await store.readDirectory(
    "select max(recorded_at) as at from audit_entry where action = 'store.backup' and outcome = 'ok'",
  );
  return row?.at === null || row === undefined ? undefined : Number(row.at);
}

/**
 * Removes the entries older than a time, in UTC epoch seconds, in small transactions, and returns
 * their number. The database refuses to remove entries of the last 30 days.
 */
export async function sweepAuditEntries(store: Store, expiredBefore: number): Promise<number> {
  return inBatches(sweepRows, () => sweepBatch(store, expiredBefore));
}

async function sweepBatch(store: Store, expiredBefore: number): Promise<number> {
  // only the function may delete on PostgreSQL, so that the role of the service need not
  const sweep = store.engine === 'postgres' ? callSweep : deleteOldest;
  const rows = await writeOne(store, sweep, [expiredBefore, sweepRows]);
  return rows.reduce((sum, { removed }) => sum + Number(removed), 0);
}

const callSweep = 'select sweep_audit_entries($1, cast(cast($2 as bigint) as integer)) as removed';
const deleteOldest = `delete from audit_entry where id in (select id from audit_entry where recorded_at < $1 order by recorded_at limit $2)
  returning 1 as removed`;

function toEntry(row: Row): AuditEntryRow {
  const text = (value: SqlValue | undefined): string | null => (value == null ? null : String(value));
  return {
    id: Number(row.id),
    recordedAt: Number(row.recorded_at),
    actorKind: String(row.actor_kind),
    actorId: text(row.actor_id),
    actorName: text(row.actor_name),
    address: text(row.address),
    action: String(row.action),
    tenant: text(row.tenant),
    clientId: text(row.client_id),
    outcome: String(row.outcome),
    error: text(row.error),
    correlationId: text(row.correlation_id),
    details: String(row.details),
  };
}
