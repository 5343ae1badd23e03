import type { SubscriptionRow } from './subscription-row.ts';

declare const tenantBrand: unique symbol;

/**
 * Name of a tenant, known to exist: only the tables of tenants and clients give one (`tenant.ts`,
 * `client.ts`). Because every statement about subscriptions takes it, a statement without a tenant
 * does not compile.
 */
export type TenantId = string & { readonly [tenantBrand]: true };

/** A value that a statement binds or a row holds. Whole numbers stay below 2^53. */
export type SqlValue = string | number | null;

/** A row by column name. */
export type Row = Readonly<Record<string, SqlValue>>;

/**
 * A statement about one tenant's subscriptions: its text must compare `tenant_id` with `$1`, which
 * the store binds itself.
 */
export type TenantSql = `${string}tenant_id = $1${string}`;

/** A statement about one tenant's subscriptions with what it binds after the tenant. */
export interface TenantStatement {
  readonly sql: TenantSql;
  readonly values: readonly SqlValue[];
}

/**
 * A statement about tenants, clients and keys: its text must be known when compiling and must not
 * name the table of subscriptions.
 */
export type DirectorySql<S extends string> = string extends S
  ? never
  : S extends `${string} subscription${' ' | '\n' | '_span' | '_tombstone' | '_import'}${string}`
    ? never
    : S;

/** Reads one tenant's subscriptions, all statements at the same moment of the store. */
export interface TenantReader {
  /** Rows of a statement written for both engines; `$1` is the tenant, `values` are `$2` and on. */
  all(sql: TenantSql, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /** The same where it saves a round trip, for a statement after which nothing more is read. */
  last?(sql: TenantSql, values?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/**
 * One moment of one tenant's subscriptions, held open for as long as it takes to read it; on a
 * connection of its own.
 */
export interface TenantSnapshot extends TenantReader {
  /**
   * Rows of a statement in batches of so many, each read when it is asked for; one stream at a
   * time.
   */
  stream(sql: TenantSql, values: readonly SqlValue[], batchRows: number): AsyncIterable<readonly Row[]>;
  /** Lets the moment go, and breaks off what is under way. */
  close(): Promise<void>;
}

declare const directoryBrand: unique symbol;

/**
 * One directory statement of a transaction; only `directoryStatement` makes it, which checks its
 * text.
 */
export interface DirectoryStatement {
  readonly [directoryBrand]: true;
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * What `migrate` did: names of the migrations that it applied, and of the newest one the store now
 * has.
 */
export interface MigrationResult {
  readonly applied: readonly string[];
  readonly current: string;
}

/** What became of the rows of one load. */
export interface LoadCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/**
 * Where an unfinished import can be resumed; committed in one transaction with the rows before it.
 */
export interface ResumePoint {
  /** Unpacked bytes of the source up to the end of its last row that is done. */
  readonly bytes: number;
  /** SHA-256 of these bytes, hexadecimal. */
  readonly sha256: string;
  readonly format: string;
  /** Rows that were read, and what became of them. */
  readonly read: number;
  readonly rejected: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** What became of a tenant's rows when others took their place. */
export interface ReplaceCounts extends LoadCounts {
  readonly removed: number;
}

/**
 * Rows that are to become all rows of a tenant; they are gathered aside, where nobody reads them.
 */
export interface Replacement {
  /**
   * Adds rows, no two of one id; a row takes the place of one with its id that was added before.
   */
  add(rows: readonly SubscriptionRow[]): Promise<void>;
  /**
   * Makes the rows that were added all rows of the tenant, in one transaction and as one revision,
   * durable when it resolves; a row equal to the stored one is left alone. A dry run only counts.
   */
  finish(dryRun: boolean): Promise<ReplaceCounts>;
  /** Lets go what was gathered, and undoes what is under way. */
  close(): Promise<void>;
}

/**
 * The right to import into a tenant, which one process at a time has. It ends with its process,
 * however that ends; where its host is lost, the store notices within minutes.
 */
export interface ImportLock {
  /** Whether it still holds; a connection that carries it may break. */
  readonly isHeld: () => boolean;
  release(): Promise<void>;
}

/** One thing about a store that was looked at. */
export interface StoreCheck {
  /** What was looked at, in a word or two. */
  readonly check: string;
  readonly ok: boolean;
  /** What was found, and what to do when it is not as it must be. */
  readonly message: string;
}

/**
 * The store: what is kept, on either engine. All functions reject with `StorageError` when the
 * store itself fails. One test suite runs over both implementations (`test/storage/`).
 */
export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * Most rows of one load in a process that also serves requests, whose writes wait for it;
   * `undefined` where they do not.
   */
  readonly servingBatchRowsMax: number | undefined;
  /**
   * The same store for one request: whatever an operation waits for (a connection, a lock, a
   * statement, the commit), it ends by `deadline`, a time of `performance.now()`, or rejects with
   * `UNAVAILABLE` or `BUSY`. Without a deadline, each operation has a time of its own.
   */
  within(deadline: number): Store;
  /**
   * Runs `work` with a reader of one tenant at one consistent moment; nothing can be written
   * through it.
   */
  readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>, options?: ReadOptions): Promise<T>;
  /**
   * Rows of each of some statements, as `readTenant` would read them one after another, at the
   * least cost.
   */
  readTenantOnce(
    tenant: TenantId,
    statements: readonly TenantStatement[],
    options?: ReadOptions,
  ): Promise<readonly (readonly Row[])[]>;
  /**
   * Opens one moment of a tenant's subscriptions, that of the first statement, for a reader that
   * takes its time, at most `pauseMsMax` between two statements. It holds a connection beside the
   * shared ones, so whoever opens one bounds their number; and it must be closed.
   */
  openSnapshot(tenant: TenantId, pauseMsMax: number): Promise<TenantSnapshot>;
  /**
   * Inserts or updates subscriptions of one tenant in one transaction, durable when it resolves; a
   * row equal to the stored one is left alone. `resumePoint`, with the counts of these rows added
   * to its own, is stored in the same transaction; `finished` removes the tenant's resume point.
   */
  loadSubscriptions(
    tenant: TenantId,
    rows: readonly SubscriptionRow[],
    resumePoint?: ResumePoint | 'finished',
  ): Promise<LoadCounts>;
  /**
   * Opens what gathers all rows of a tenant; it must be closed. Whoever opens one has the right to
   * import into the tenant.
   */
  openReplacement(tenant: TenantId): Promise<Replacement>;
  /**
   * Takes the right to import into a tenant, without waiting: one process at a time has it.
   * `undefined` when another has it.
   */
  lockImport(tenant: TenantId): Promise<ImportLock | undefined>;
  /**
   * Removes subscriptions of one tenant by their ids in one transaction, durable when it resolves;
   * how many there were.
   */
  deleteSubscriptions(tenant: TenantId, ids: readonly string[]): Promise<number>;
  /**
   * Removes up to `limit` rows of one tenant from one of its tables, in one transaction; returns
   * how many, 0 when nothing is left. Only for a tenant that is being deleted: counts and revision
   * do not follow.
   */
  eraseRows(tenant: TenantId, limit: number): Promise<number>;
  /**
   * Removes up to `limit` tombstones of one tenant whose revision is at most `revision`, in one
   * transaction and as a new revision; returns how many. Afterwards, changes can only be read from
   * a later revision (`TenantHistory.sweptRevision`).
   */
  sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number>;
  /**
   * Counts the rows of one tenant anew and mends what else is wrong with them, in one transaction
   * and as a new revision, so that nothing cached of the wrong ones is used.
   */
  recountSubscriptions(tenant: TenantId): Promise<void>;
  /** One reading statement about tenants, clients or keys. */
  readDirectory<S extends string>(sql: DirectorySql<S>, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Statements about tenants, clients or keys in one transaction, durable when it resolves; the
   * rows that each returned. With `announce`, other processes learn of it by their `changeMark`.
   */
  writeDirectory(
    statements: readonly DirectoryStatement[],
    options?: { readonly announce: boolean },
  ): Promise<readonly (readonly Row[])[]>;
  /**
   * Overwrites or gives back what removed keys have left in the store's own files: SQLite rewrites
   * the file and empties its write-ahead log, PostgreSQL rewrites the table of keys. PostgreSQL's
   * write-ahead log and all backups keep what they have.
   */
  eraseRemovedKeys(): Promise<void>;
  /** Begins to follow changes that other processes make, for `changeMark`; until `close`. */
  watch(): void;
  /**
   * A number that differs from an earlier one when something that was announced, or a tenant's
   * records, may have changed since, by any process; `undefined` when that cannot be known now
   * without asking the store.
   */
  changeMark(): number | undefined;
  /**
   * Brings the schema to what this version needs, under a lock; safe when two do it at once or one
   * is killed half-way.
   */
  migrate(): Promise<MigrationResult>;
  /**
   * Resolves when a report could be answered now: the store is reachable and this version can work
   * with its schema.
   */
  checkReady(): Promise<void>;
  /**
   * Looks at everything about the store that is not one tenant's; a store that cannot be reached at
   * all rejects.
   */
  examine(): Promise<readonly StoreCheck[]>;
  close(): Promise<void>;
}

/** What the caller knows of a read. */
export interface ReadOptions {
  /**
   * Whether each of its statements costs about as much as a page does, however many records the
   * tenant has. The embedded store runs such a read at once on the main thread, and any other on a
   * reader thread, where it holds nobody else.
   */
  readonly isBounded: boolean;
}

/** Builds one statement of `writeDirectory`, checked like those of `readDirectory`. */
export function directoryStatement<S extends string>(
  sql: DirectorySql<S>,
  values: readonly SqlValue[] = [],
): DirectoryStatement {
  return { sql, values } as unknown as DirectoryStatement;
}

/** Looks whether something resolves, and gives its error's sentence when it does not. */
export async function checkThat(check: string, fine: string, work: () => Promise<void>): Promise<StoreCheck> {
  try {
    await work();
    return { check, ok: true, message: fine };
  } catch (error) {
    return { check, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
