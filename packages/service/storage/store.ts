import type { SubscriptionRow } from './subscription-row.ts';

declare const tenantBrand: unique symbol;

/**
 * The name of an existing tenant. Only the tables of tenants and clients return one, and every
 * statement about subscriptions takes one (ARCHITECTURE.md, Storage).
 */
export type TenantId = string & { readonly [tenantBrand]: true };

/** A value that a statement binds or a row contains. Whole numbers are below 2^53. */
export type SqlValue = string | number | null;

/** A row by column name. */
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * SQL about one tenant's subscriptions. It must compare `tenant_id` with `$1`, which the store
 * binds.
 */
export type TenantSql = `${string}tenant_id = $1${string}`;

/** SQL that writes the own row of the tenant `$1`, or rows that get its id. */
export type TenantWriteSql =
  | `update tenant set ${string} where id = $1${'' | ` returning ${string}`}`
  | `insert into subscription${string} (tenant_id, ${string}`;

/** SQL about one tenant's subscriptions, and its values from `$2` on. */
export interface TenantStatement {
  readonly sql: TenantSql;
  readonly values: readonly SqlValue[];
}

/**
 * SQL about tenants, clients and keys. It must be a literal, and must not name a table of
 * subscriptions.
 */
export type DirectorySql<S extends string> = string extends S
  ? never
  : S extends
        | `${string} subscription${' ' | '\n' | '_span' | '_tombstone' | '_version' | '_commit' | '_erasure'}${string}`
        | `${string} import_rejection${string}`
    ? never
    : S;

/** Reads one tenant's subscriptions. All statements read the same snapshot. */
export interface TenantReader {
  /** Runs a statement written for both engines; `$1` is the tenant, `values` are `$2` and on. */
  all(sql: TenantSql, values?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/** Some rows of one column. */
export interface LineBatch {
  readonly rows: number;
  /** Their values in UTF-8, each followed by a line feed. */
  readonly lines: Buffer;
}

/** A snapshot of one tenant's subscriptions on a connection of its own, open until it is closed. */
export interface TenantSnapshot extends TenantReader {
  /**
   * Streams the rows of a statement that selects one column of text without line feeds, in batches.
   * Each batch is read on request, and valid until the next one is requested. One stream at a time.
   */
  streamLines(sql: TenantSql, values: readonly SqlValue[], batchRows: number): AsyncIterable<LineBatch>;
  /** Closes the snapshot, and aborts what is running. */
  close(): Promise<void>;
}

declare const directoryBrand: unique symbol;

/** A statement of `writeDirectory`. Only `directoryStatement` makes one, which checks its text. */
export interface DirectoryStatement {
  readonly [directoryBrand]: true;
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The result of `migrate`: the migrations that it applied, and the newest one of the store. */
export interface MigrationResult {
  readonly applied: readonly string[];
  readonly current: string;
}

/** The owner of records: a subscriber, by the normalized email, or a SIM. */
export interface RecordOwner {
  readonly column: 'email' | 'iccid';
  readonly value: string;
}

/** How many rows a load inserted, updated or left unchanged. */
export interface LoadCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** How many records an erasure removed, and how many former versions, of these and of others. */
export type ErasedCounts = Readonly<Record<'records' | 'versions', number>>;

/** How many rows a staged load inserted, updated, left unchanged or removed. */
export interface StagedCounts extends LoadCounts {
  readonly removed: number;
}

/** Protects a tenant from a replacement that removes most of its records. */
export interface RemovalGuard {
  /** How many records the caller wants to be removed, if it says so. */
  readonly confirmed: number | undefined;
}

/**
 * Stages rows for one transaction, in which they replace all rows of a tenant or, if it keeps the
 * others, those with the same ids. They are not visible before `finish`.
 */
export interface StagedLoad {
  /** Adds rows with distinct ids. A row replaces one with the same id that was added before. */
  add(rows: readonly SubscriptionRow[]): Promise<void>;
  /**
   * Writes the staged rows in one transaction and as one revision, durable when it resolves.
   * Equal rows stay as they are. A dry run does the same and rolls it back. With a guard, rejects
   * with `REMOVES_MANY` as `guardRemoval` says.
   */
  finish(dryRun: boolean, guard?: RemovalGuard): Promise<StagedCounts>;
  /** Drops the staged rows, and rolls back what is running. */
  close(): Promise<void>;
}

/** The start of a tenant's history that a sweep keeps. */
export interface HistorySweep {
  /** The oldest revision that stays readable, and since when it was current at the latest. */
  readonly oldest: number;
  readonly fromSeconds: number;
  /** Whether there is a history from then on. */
  readonly keeps: boolean;
}

/** The result of one step of a sweep. */
export interface HistorySwept {
  readonly versions: number;
  /** Whether nothing is left to remove. */
  readonly isDone: boolean;
}

/**
 * The exclusive lock to import into a tenant. It is released when its process exits; if the
 * host is lost, the store releases it within minutes.
 */
export interface ImportLock {
  /** Whether the lock is still held. It is lost with the connection that holds it. */
  readonly isHeld: () => boolean;
  release(): Promise<void>;
}

export interface StoreCheck {
  /** Name of the check, one or two words. */
  readonly check: string;
  readonly ok: boolean;
  /** The result, and how to correct a fault. */
  readonly message: string;
}

/** Options of both engines: how long an operation may take, and what the store keeps. */
export interface EngineOptions {
  /**
   * Timeout of an operation without a deadline, in milliseconds; `operationMsDefault` when omitted.
   */
  readonly operationMs?: number;
  /** Whether former versions of changed records are kept; true when omitted. */
  readonly keepsHistory?: boolean;
  /** The storage budget of a tenant in bytes; none when omitted, or 0. */
  readonly tenantBytesMax?: number;
}

/** Connections of a pool, and the work that waits for one. */
export interface PoolUse {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface StorePart {
  /** `wal` is the write-ahead log of SQLite; that of PostgreSQL belongs to the whole server. */
  readonly part: 'database' | 'wal';
  readonly bytes: number;
}

/**
 * Tenants, clients, keys and what belongs to them: of the store, or as one transaction of it sees
 * them (`Store.transact`).
 */
export interface Directory {
  /** Runs one reading statement about tenants, clients or keys. */
  readDirectory<S extends string>(sql: DirectorySql<S>, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Runs statements about tenants, clients or keys in one transaction: their own, durable when it
   * resolves, or the one that is open. Returns the rows of each. With `announce`, the `changeMark`
   * of other processes changes.
   */
  writeDirectory(
    statements: readonly DirectoryStatement[],
    options?: { readonly announce?: boolean },
  ): Promise<readonly (readonly Row[])[]>;
}

/** How requests read the rows of one tenant. */
interface TenantReads {
  /** Runs `work` with a reader of one snapshot of a tenant. The reader cannot write. */
  readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>, options?: ReadOptions): Promise<T>;
  /** Returns the rows of one statement, as `readTenant` would, at the least cost. */
  readTenantOnce(tenant: TenantId, statement: TenantStatement, options?: ReadOptions): Promise<readonly Row[]>;
  /**
   * Opens a snapshot of a tenant's subscriptions as of its first statement, for a slow reader: at
   * most `pauseMsMax` may pass between two statements. It uses a connection outside the pool, so
   * the caller must bound how many are open, and must close each.
   */
  openSnapshot(tenant: TenantId, pauseMsMax: number): Promise<TenantSnapshot>;
}

/** Changes of the rows of one tenant, each in one transaction that locks it. */
export interface TenantWrites {
  /**
   * Inserts or updates subscriptions of one tenant in one transaction, durable when it resolves.
   * Equal rows stay as they are. With `expectsNew`, none is looked up before it is inserted: it
   * says that the rows of this import were all new so far. The history names the import.
   */
  loadSubscriptions(
    tenant: TenantId,
    rows: readonly SubscriptionRow[],
    expectsNew?: boolean,
    importId?: string,
  ): Promise<LoadCounts>;
  /** Opens a staged load. The caller holds the tenant's import lock, and must close the load. */
  openStagedLoad(tenant: TenantId, importId?: string, keepsOthers?: boolean): Promise<StagedLoad>;
  /**
   * Takes the import lock of a tenant without waiting. Returns `undefined` if another process holds
   * it.
   */
  lockImport(tenant: TenantId): Promise<ImportLock | undefined>;
  /**
   * Erases subscriptions of one tenant by id, and all their former versions, in one transaction,
   * durable when it resolves. Of an owner, erases only what belongs to it (`eraseStatements`).
   */
  deleteSubscriptions(tenant: TenantId, ids: readonly string[], owner?: RecordOwner): Promise<ErasedCounts>;
  /**
   * Removes up to `limit` rows of one tenant from one of its tables in one transaction, without
   * updating counts or revision: only for a tenant that is being deleted. Returns how many, 0 if
   * none is left.
   */
  eraseRows(tenant: TenantId, limit: number): Promise<number>;
  /**
   * Removes up to `limit` tombstones of one tenant with a revision of at most `revision`, in one
   * transaction and as a new revision. Returns how many. Then changes can only be read from a later
   * revision (`TenantHistory.sweptRevision`).
   */
  sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number>;
  /**
   * Shortens the history of one tenant, and removes up to `limit` versions of records that ended
   * before it, as many commit times and as many erased versions, in one transaction.
   */
  sweepHistory(tenant: TenantId, sweep: HistorySweep, limit: number): Promise<HistorySwept>;
  /**
   * Recounts the rows of one tenant and repairs its records, in one transaction and as a new
   * revision, so that nothing cached before is used. Begins a new history, at `nowSeconds`, if
   * revisions were lost, versions are wrong, or the last commit is later than the clock. Changes
   * nothing of a tenant that is being deleted.
   */
  recountSubscriptions(tenant: TenantId, nowSeconds: number): Promise<void>;
  /**
   * Runs statements that change one tenant's rows, but neither its records nor its counts, in one
   * transaction that is durable when it resolves. Returns the rows of each.
   */
  writeTenant(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]>;
}

/** How a process learns of changes that others made. */
interface ChangeNotices {
  /** Starts following changes made by other processes, for `changeMark`. Ends with `close`. */
  watch(): void;
  /**
   * A number that changes when an announced write may have happened in any process. `undefined` if
   * that is not known without querying the store. It does not tell of records: each response reads
   * their revision, and the commit of a notification waits for those of all tenants.
   */
  changeMark(): number | undefined;
  /**
   * Milliseconds since `changeMark` was last known to include every change of other processes; 0 if
   * it is read from the database, or if there is none because of a pooler.
   */
  changeMarkAgeMs(): number;
}

/** What operates the store, and measures it. */
interface StoreUpkeep {
  /**
   * Applies the missing migrations under a lock. Safe if two processes do so at once, or one is
   * killed.
   */
  migrate(): Promise<MigrationResult>;
  /**
   * Resolves if a report can be read now: the store is reachable, and this version can use its
   * schema.
   */
  checkReady(): Promise<void>;
  /**
   * Checks the store itself, without the data of tenants. `full` also compares each entry of each
   * index with its row on SQLite. Rejects if the store cannot be reached.
   */
  examine(full?: boolean): Promise<readonly StoreCheck[]>;
  readSize(): Promise<readonly StorePart[]>;
  /**
   * Erases removed keys from the store's own files: SQLite rewrites the file and empties its
   * write-ahead log, PostgreSQL rewrites the table of keys. They remain in PostgreSQL's write-ahead
   * log and in backups.
   */
  eraseRemovedKeys(): Promise<void>;
  /**
   * Whether the last work of a tenant did not finish in time; absent if the engine cannot hang for
   * one tenant alone.
   */
  isHanging?(tenant: string): boolean;
  /** How the connection pool is used at present; absent if the engine has none. */
  poolUse?(): PoolUse;
  /**
   * From now on, calls `observe` with the seconds that each use of the pool waited for its
   * connection, also if it gave up; absent if the engine has no pool.
   */
  observePoolWaits?(observe: (seconds: number) => void): void;
}

/**
 * The store, on either engine. All functions reject with `StorageError` if the store itself fails.
 * One test suite runs on both implementations (`packages/service/test/storage/`).
 */
export interface Store extends Directory, TenantReads, TenantWrites, ChangeNotices, StoreUpkeep {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * The most rows of one load in a process that also serves requests: they wait for a part of it.
   */
  readonly servingBatchRowsMax: number;
  /**
   * The storage budget of a tenant in bytes; 0 means no limit. Loads and replacements that exceed
   * it reject with `OVER_BUDGET` and store nothing.
   */
  readonly tenantBytesMax: number;
  /**
   * The same store for one request: every operation, whatever it waits for (a connection, a lock, a
   * statement, the commit), ends by `deadline`, a time of `performance.now()`, or rejects with
   * `UNAVAILABLE` or `BUSY`. Without a deadline, each operation has its own time limit. When
   * `signal` aborts, reads of a tenant that wait do not start, and SQLite ends those that run; they
   * reject with its reason.
   */
  within(deadline: number, signal?: AbortSignal): Store;
  /**
   * Runs `work` in one transaction of the directory it gets, durable when the promise resolves. If
   * `work` throws, nothing is changed. Other writes may wait meanwhile, so `work` must wait for
   * nothing else.
   */
  transact<T>(work: (directory: Directory) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Properties of a read that only its caller knows. */
export interface ReadOptions {
  /**
   * Whether each statement costs about as much as a page, for any number of records. SQLite runs
   * such a read on the main thread, and any other on a reader thread, where it delays no other
   * request.
   */
  readonly isBounded: boolean;
}

/** Makes a statement of `writeDirectory`. Its text is checked like that of `readDirectory`. */
export function directoryStatement<S extends string>(
  sql: DirectorySql<S>,
  values: readonly SqlValue[] = [],
): DirectoryStatement {
  return { sql, values } as unknown as DirectoryStatement;
}

/** Runs a check: it is ok if `work` resolves, else its message is that of the error. */
export async function checkThat(check: string, fine: string, work: () => Promise<void>): Promise<StoreCheck> {
  try {
    await work();
    return { check, ok: true, message: fine };
  } catch (error) {
    return { check, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
