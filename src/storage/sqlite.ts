import { setTimeout as sleep } from 'node:timers/promises';
import { selectRevision, setRevision, someTombstone } from './change-sql.ts';
import { countChanges, type RowChange } from './count-changes.ts';
import { changeMsMax, operationMsDefault } from './deadline.ts';
import { eraseStatements } from './erase-rows.ts';
import { StorageError } from './error.ts';
import type { ImportLock } from './import-lock.ts';
import { markStatement } from './import-mark.ts';
import { countLoaded, type LoadCounts } from './load-counts.ts';
import {
  type AppliedMigration,
  listMigrations,
  pendingMigrations,
  recordMigration,
  selectMigrations,
  toAppliedMigration,
} from './migrations.ts';
import { repairSubscriptions } from './repair-subscriptions.ts';
import type { Replacement } from './replacement.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { countOnSqlite } from './sqlite-count.ts';
import { requireNoKnownDamage } from './sqlite-damage.ts';
import { prepareFolder } from './sqlite-folder.ts';
import { lockImportOnSqlite } from './sqlite-import-lock.ts';
import { openSqliteReplacement } from './sqlite-replacement.ts';
import { lockUse, type UseLock } from './sqlite-use-lock.ts';
import type {
  DirectorySql,
  DirectoryStatement,
  MarkImport,
  MigrationResult,
  Row,
  SqlValue,
  Store,
  TenantId,
  TenantReader,
  TenantSnapshot,
  TenantStatement,
} from './store.ts';
import { checkThat, type StoreCheck } from './store-check.ts';
import { rowColumns, rowValues, type SubscriptionRow } from './subscription-row.ts';
import { countedColumns, toCountedRow } from './subscription-span.ts';
import { removeOldTombstones, setSweptRevision } from './tombstone.ts';

/** Readers at once; each holds one snapshot, and all run on this one thread, so more would only wait for each other. */
const readersMax = 8;
const openWaitMs = 5_000;

/**
 * Opens the embedded store in a folder: one SQLite file in WAL mode with `synchronous=FULL`, so that what was acknowledged survives a crash of the
 * process and a loss of power. Several processes may share the folder.
 */
export function openSqliteStore(folder: string, operationMs = operationMsDefault): Store {
  const file = prepareFolder(folder);
  const use = lockUse(file);
  try {
    return new SqliteStore(openShared(file, operationMs, use), undefined);
  } catch (error) {
    use.release();
    throw error;
  }
}

/** What the views of one store on its requests (`within`) have in common. */
interface SharedConnections {
  readonly file: string;
  /** How long a write without a deadline waits for another process's write; SQLite itself must not wait, it would stop all readers. */
  readonly operationMs: number;
  readonly use: UseLock;
  readonly writer: SqliteConnection;
  readonly idleReaders: SqliteConnection[];
  readonly waiting: ((reader: SqliteConnection) => void)[];
  readerCount: number;
  watcher: SqliteConnection | undefined;
}

function openShared(file: string, operationMs: number, use: UseLock): SharedConnections {
  const writer = new SqliteConnection(file, openWaitMs);
  writer.run('pragma journal_mode = wal');
  writer.run('pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 0');
  writer.run('pragma secure_delete = fast'); // removed rows are overwritten where their page is written anyway
  return { file, operationMs, use, writer, idleReaders: [], waiting: [], readerCount: 0, watcher: undefined };
}

class SqliteStore implements Store {
  readonly engine = 'sqlite';
  readonly #shared: SharedConnections;
  readonly #deadline: number | undefined;
  readonly #file: string;
  readonly #writer: SqliteConnection;

  constructor(shared: SharedConnections, deadline: number | undefined) {
    this.#shared = shared;
    this.#deadline = deadline;
    this.#file = shared.file;
    this.#writer = shared.writer;
  }

  within(deadline: number): Store {
    return new SqliteStore(this.#shared, deadline);
  }

  async readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>): Promise<T> {
    const connection = await this.#takeReader();
    try {
      connection.run('begin'); // the snapshot is taken by the first statement and held to the end
      return await work({ all: async (sql, values = []) => connection.all(sql, [tenant, ...values]) });
    } finally {
      connection.run('rollback');
      this.#returnReader(connection);
    }
  }

  async readTenantOnce(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.readTenant(tenant, (reader) =>
      Promise.all(statements.map(({ sql, values }) => reader.all(sql, values))),
    );
  }

  async openSnapshot(tenant: TenantId): Promise<TenantSnapshot> {
    const connection = new SqliteConnection(this.#file, openWaitMs); // not one of the readers, which pages wait for
    connection.run('pragma query_only = on');
    connection.run('begin');
    return {
      all: async (sql, values = []) => connection.all(sql, [tenant, ...values]),
      stream: async function* (sql, values, batchRows) {
        yield* connection.batches(sql, [tenant, ...values], batchRows);
      },
      close: async () => connection.close(),
    };
  }

  async loadSubscriptions(tenant: TenantId, rows: readonly SubscriptionRow[], mark?: MarkImport): Promise<LoadCounts> {
    return this.#write(() => {
      const revision = this.#nextRevision(tenant);
      const [buried] = this.#writer.all(someTombstone, [tenant]);
      const changes = rows.flatMap((row) => this.#loadRow(tenant, row, revision));
      const inserted = changes.filter(({ before }) => before === undefined); // a row that is there has no tombstone
      if (buried !== undefined)
        for (const { after } of inserted) this.#writer.change(removeTombstone, [tenant, after?.id ?? '']);
      this.#keepChanges(tenant, changes, revision);
      const counts = countLoaded(rows.length, changes);
      const next = mark?.(counts);
      if (next !== undefined) this.#writer.change(...markStatement(tenant, next));
      return counts;
    }, changeMsMax);
  }

  async openReplacement(tenant: TenantId): Promise<Replacement> {
    return openSqliteReplacement(this.#file, tenant);
  }

  async lockImport(tenant: TenantId): Promise<ImportLock | undefined> {
    return lockImportOnSqlite(this.#file, tenant);
  }

  async deleteSubscriptions(tenant: TenantId, ids: readonly string[]): Promise<number> {
    return this.#erase(() => {
      const revision = this.#nextRevision(tenant);
      const removed = ids.flatMap((id) => this.#writer.all(deleteRow, [tenant, id]));
      for (const { id } of removed) this.#writer.change(buryRow, [tenant, String(id), revision]);
      const changes = removed.map((row) => ({ before: toCountedRow(row) }));
      this.#keepChanges(tenant, changes, revision);
      return removed.length;
    });
  }

  async eraseRows(tenant: TenantId, limit: number): Promise<number> {
    return this.#erase(() => {
      for (const sql of eraseStatements) {
        const erased = this.#writer.all(sql, [tenant, limit]).length;
        if (erased > 0) return erased;
      }
      return 0;
    });
  }

  async sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number> {
    return this.#write(() => {
      const removed = this.#writer.all(removeOldTombstones, [tenant, revision, limit]).length;
      if (removed > 0) this.#writer.change(setSweptRevision, [tenant, this.#nextRevision(tenant), revision]);
      return removed;
    });
  }

  async recountSubscriptions(tenant: TenantId): Promise<void> {
    return this.#write(() => {
      const revision = this.#nextRevision(tenant);
      countOnSqlite(this.#writer, tenant, repairSubscriptions());
      this.#writer.change(setRevision, [tenant, revision]);
    });
  }

  async readDirectory<S extends string>(
    sql: DirectorySql<S>,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    const connection = await this.#takeReader();
    try {
      return connection.all(sql, values);
    } finally {
      this.#returnReader(connection);
    }
  }

  async writeDirectory(statements: readonly DirectoryStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#write(() => statements.map(({ sql, values }) => this.#writer.all(sql, values)));
  }

  async eraseRemovedKeys(): Promise<void> {
    const connection = new SqliteConnection(this.#file, openWaitMs); // a rewrite is no transaction of the writer
    try {
      connection.run('vacuum');
      connection.run('pragma wal_checkpoint(truncate)');
    } finally {
      connection.close();
    }
  }

  watch(): void {
    this.#shared.watcher ??= new SqliteConnection(this.#file, openWaitMs);
  }

  /** SQLite counts the commits of all other connections, of this process and of others; reading the count takes microseconds. */
  changeMark(): number | undefined {
    const [row] = this.#shared.watcher?.all('pragma data_version', []) ?? [];
    return row === undefined ? undefined : Number(row.data_version);
  }

  async migrate(): Promise<MigrationResult> {
    const known = listMigrations('sqlite');
    return this.#write(() => {
      this.#writer.run(createMigrationTable);
      const pending = pendingMigrations(known, this.#appliedMigrations());
      for (const migration of pending) {
        for (const statement of migration.statements) this.#writer.run(statement);
        this.#writer.change(...recordMigration(migration));
      }
      return { applied: pending.map(({ name }) => name), current: known.at(-1)?.name ?? '' };
    });
  }

  async checkReady(): Promise<void> {
    requireNoKnownDamage(this.#file);
    const pending = pendingMigrations(listMigrations('sqlite'), this.#appliedMigrations());
    if (pending.length > 0) {
      throw new StorageError(
        'UNUSABLE',
        `Cannot use the embedded store '${this.#file}': its schema must be brought up to date; run 'subreport migrate'`,
      );
    }
  }

  async examine(): Promise<readonly StoreCheck[]> {
    const schema = await checkThat('schema', 'This version can work with the schema', () => this.checkReady());
    const integrity = await checkThat('integrity', 'The file is whole', async () => this.#checkIntegrity());
    return [schema, integrity];
  }

  #checkIntegrity(): void {
    const texts = this.#writer.all('pragma integrity_check', []).map((row) => String(row.integrity_check));
    const faults = texts.filter((text) => text !== 'ok');
    const orphans = this.#writer.all('pragma foreign_key_check', []).length;
    const problems = [...faults, ...(orphans > 0 ? [`${orphans} rows refer to something that is not there`] : [])];
    if (problems.length > 0) {
      const shown = problems.slice(0, 3).join('; ').replaceAll('\n', ' ');
      throw new StorageError(
        'UNUSABLE',
        `Cannot rely on the embedded store '${this.#file}': its file must be whole: ${shown}; stop the service and restore a backup with 'subreport restore'`,
      );
    }
  }

  async close(): Promise<void> {
    for (const reader of this.#shared.idleReaders.splice(0)) reader.close();
    this.#shared.watcher?.close();
    this.#writer.close();
    this.#shared.use.release();
  }

  /** Inserts or updates a row; no change when it is there already as it is. */
  #loadRow(tenant: TenantId, row: SubscriptionRow, revision: number): RowChange[] {
    const values = [tenant, ...rowValues(row), revision];
    if (this.#writer.change(insertRow, values) === 1) return [{ after: row }];
    const [before] = this.#writer.all(selectCountedRow, [tenant, row.id]);
    if (before === undefined || this.#writer.change(updateRow, values) === 0) return [];
    return [{ before: toCountedRow(before), after: row }];
  }

  /** What belongs to changes of rows in their transaction: the counts, and the revision. */
  #keepChanges(tenant: TenantId, changes: readonly RowChange[], revision: number): void {
    if (changes.length === 0) return;
    countOnSqlite(this.#writer, tenant, countChanges(changes));
    this.#writer.change(setRevision, [tenant, revision]);
  }

  /** The revision that the transaction makes, if it changes anything. */
  #nextRevision(tenant: TenantId): number {
    const [row] = this.#writer.all(selectRevision, [tenant]);
    return Number(row?.revision ?? 0) + 1;
  }

  #appliedMigrations(): AppliedMigration[] {
    const [table] = this.#writer.all("select name from sqlite_master where name = 'schema_migration'", []);
    if (table === undefined) return [];
    return this.#writer.all(selectMigrations, []).map(toAppliedMigration);
  }

  /** Runs `work` in one writing transaction. It is never interrupted, as it awaits nothing; waiting for another process's lock blocks no reader. */
  async #write<T>(work: () => T, waitMsMax = this.#shared.operationMs): Promise<T> {
    const deadline = this.#deadline ?? performance.now() + waitMsMax;
    for (let waitMs = 1; !this.#beginWrite(deadline); waitMs = Math.min(waitMs * 2, 20)) await sleep(waitMs);
    try {
      const result = work();
      this.#writer.run('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Runs `work` in one writing transaction that overwrites all that it removes. */
  async #erase<T>(work: () => T): Promise<T> {
    this.#writer.run('pragma secure_delete = on');
    try {
      return await this.#write(work, changeMsMax);
    } finally {
      this.#writer.run('pragma secure_delete = fast');
    }
  }

  /** Whether the write lock was free; an error when it is not and the deadline has passed. */
  #beginWrite(deadline: number): boolean {
    try {
      this.#writer.run('begin immediate');
      return true;
    } catch (error) {
      const busy = error instanceof StorageError && error.code === 'BUSY';
      if (!busy || performance.now() > deadline) throw error;
      return false;
    }
  }

  #rollBack(): void {
    try {
      this.#writer.run('rollback');
    } catch {
      // SQLite has rolled back by itself already (a full disk, say); the error that led here is the one to report
    }
  }

  async #takeReader(): Promise<SqliteConnection> {
    const idle = this.#shared.idleReaders.pop();
    if (idle !== undefined) return idle;
    if (this.#shared.readerCount >= readersMax) return new Promise((resolve) => this.#shared.waiting.push(resolve));
    const reader = new SqliteConnection(this.#file, openWaitMs);
    this.#shared.readerCount += 1;
    reader.run('pragma query_only = on');
    return reader;
  }

  #returnReader(reader: SqliteConnection): void {
    const next = this.#shared.waiting.shift();
    if (next === undefined) this.#shared.idleReaders.push(reader);
    else next(reader);
  }
}

const createMigrationTable =
  'create table if not exists schema_migration (name text not null primary key, checksum text not null) strict';

const insertRow = `insert into subscription (tenant_id, ${rowColumns}, revision)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) on conflict do nothing`;

const updateRow = `update subscription set created_date = $3, activation_date = $4, expiration_date = $5, status = $6,
  product_id = $7, iccid = $8, email = $9, record = $10,
  plan_id = $11, device_id = $12, auto_renew = $13, revision = $14
  where tenant_id = $1 and id = $2 and (record <> $10 or email is not $9)`;

const selectCountedRow = `select ${countedColumns} from subscription where tenant_id = $1 and id = $2`;

const deleteRow = `delete from subscription where tenant_id = $1 and id = $2 returning ${countedColumns}`;

const buryRow = `insert into subscription_tombstone (tenant_id, id, revision) values ($1, $2, $3)
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

const removeTombstone = 'delete from subscription_tombstone where tenant_id = $1 and id = $2';
