import { statSync } from 'node:fs';
import type { TenantChange } from '../commit/tenant-change.ts';
import { TenantWriter } from '../commit/tenant-writer.ts';
import { changeMsMax, migrationMsMax, operationMsDefault, overdue } from '../deadline.ts';
import { StorageError } from '../error.ts';
import {
  type AppliedMigration,
  checkObjects,
  listMigrations,
  pendingMigrations,
  recordMigration,
  requireMigrated,
  selectMigrations,
  toAppliedMigration,
} from '../migrations.ts';
import {
  checkThat,
  type Directory,
  type DirectorySql,
  type DirectoryStatement,
  type EngineOptions,
  type ImportLock,
  type MigrationResult,
  type ReadOptions,
  type Row,
  type SqlValue,
  type StagedCounts,
  type StagedLoad,
  type Store,
  type StoreCheck,
  type StorePart,
  type TenantId,
  type TenantReader,
  type TenantSnapshot,
  type TenantStatement,
} from '../store.ts';
import { SqliteConnection, sqliteOpenWaitMs, writerPragmas } from './connection.ts';
import { knownDamage } from './error.ts';
import { prepareFolder } from './folder.ts';
import { lockImportOnSqlite, lockShared, type UseLock } from './locks.ts';
import { SqlitePageReaders } from './page-readers.ts';
import { type ReadBounds, SqliteReaders } from './readers.ts';
import type { StagedLoadRequest, StagedLoadStart } from './staged-load-thread.ts';
import { SqliteThread } from './thread.ts';
import { SqliteWriter } from './writer.ts';

/**
 * Opens the embedded store in a folder: one SQLite file in WAL mode with `synchronous=FULL`, so
 * that acknowledged writes survive a crash of the process and a power failure. Several processes
 * may share the folder.
 */
export function openSqliteStore(folder: string, options: EngineOptions = {}): Store {
  const file = prepareFolder(folder);
  const use = lockShared(file);
  try {
    return new SqliteStore(openShared(file, options, use), {});
  } catch (error) {
    use.release();
    throw error;
  }
}

/** Connections and locks shared by all views of a store (`within`). */
interface SharedConnections {
  readonly file: string;
  /**
   * Time for which a write without a deadline waits for another process's write, in milliseconds.
   */
  readonly operationMs: number;
  readonly keepsHistory: boolean;
  readonly bytesMax: number;
  readonly use: UseLock;
  readonly connection: SqliteConnection;
  readonly writer: SqliteWriter;
  /** Reads that cost no more than a page, on the main thread. */
  readonly pageReaders: SqlitePageReaders;
  readonly readers: SqliteReaders;
  watcher: SqliteConnection | undefined;
  /** The change mark, for the code that runs until the next microtask. */
  changeMark: number | undefined;
}

function openShared(
  file: string,
  { operationMs = operationMsDefault, keepsHistory = true, tenantBytesMax: bytesMax = 0 }: EngineOptions,
  use: UseLock,
): SharedConnections {
  const connection = new SqliteConnection(file, sqliteOpenWaitMs);
  try {
    connection.useLog();
    connection.run(`pragma busy_timeout = 0; ${writerPragmas}`);
  } catch (error) {
    connection.close(); // a service whose disk is full tries again each second
    throw error;
  }
  return {
    file,
    operationMs,
    keepsHistory,
    bytesMax,
    use,
    connection,
    writer: new SqliteWriter(file, connection),
    pageReaders: new SqlitePageReaders(file),
    readers: new SqliteReaders(file),
    watcher: undefined,
    changeMark: undefined,
  };
}

class SqliteStore extends TenantWriter implements Store {
  readonly engine = 'sqlite';
  /** Some ten milliseconds, for which other writes, such as those of a token, wait. */
  readonly servingBatchRowsMax = 500;
  readonly tenantBytesMax: number;
  readonly #shared: SharedConnections;
  readonly #bounds: ReadBounds;
  readonly #connection: SqliteConnection;

  constructor(shared: SharedConnections, bounds: ReadBounds) {
    super();
    this.#shared = shared;
    this.#bounds = bounds;
    this.#connection = shared.connection;
    this.tenantBytesMax = shared.bytesMax;
  }

  within(deadline: number, signal?: AbortSignal): Store {
    return new SqliteStore(this.#shared, { deadline, signal });
  }

  async readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>, options?: ReadOptions): Promise<T> {
    const { pageReaders, readers } = this.#shared;
    if (options?.isBounded !== true) return readers.read(tenant, work, this.#bounds);
    return pageReaders.useSnapshot((connection) =>
      work({ all: async (sql, values = []) => connection.all(sql, [tenant, ...values]) }),
    );
  }

  async readTenantOnce(
    tenant: TenantId,
    { sql, values }: TenantStatement,
    options?: ReadOptions,
  ): Promise<readonly Row[]> {
    const bound = { sql, values: [tenant, ...values] };
    const { pageReaders, readers } = this.#shared;
    return options?.isBounded === true ? pageReaders.readAtOnce(bound) : readers.readOnce(tenant, bound, this.#bounds);
  }

  async openSnapshot(tenant: TenantId): Promise<TenantSnapshot> {
    return this.#shared.readers.openSnapshot(tenant, this.#bounds);
  }

  async openStagedLoad(tenant: TenantId, importId?: string, keepsOthers = false): Promise<StagedLoad> {
    const { file, keepsHistory, bytesMax } = this.#shared;
    return openStagedLoad({ file, tenant, keepsHistory, bytesMax, importId, keepsOthers });
  }

  async lockImport(tenant: TenantId): Promise<ImportLock | undefined> {
    return lockImportOnSqlite(this.#shared.file, tenant);
  }

  /** Overwrites what it deletes: rejected rows quote people. */
  writeTenant(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#write(() => {
      this.#connection.run('pragma secure_delete = on');
      try {
        return statements.map(({ sql, values }) => this.#connection.all(sql, [tenant, ...values]));
      } finally {
        this.#connection.run('pragma secure_delete = fast');
      }
    });
  }

  async readDirectory<S extends string>(
    sql: DirectorySql<S>,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    return this.#shared.pageReaders.readAtOnce({ sql, values });
  }

  writeDirectory(statements: readonly DirectoryStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#write(() => statements.map(({ sql, values }) => this.#connection.all(sql, values)));
  }

  transact<T>(work: (directory: Directory) => Promise<T>): Promise<T> {
    let isLate = false;
    const all = (sql: string, values: readonly SqlValue[]): readonly Row[] => {
      if (isLate) throw overdue();
      return this.#connection.all(sql, values);
    };
    const directory: Directory = {
      readDirectory: async (sql, values = []) => all(sql, values),
      writeDirectory: async (statements) => statements.map(({ sql, values }) => all(sql, values)),
    };
    const giveUp = (): void => {
      isLate = true;
    };
    return this.#shared.writer.transact(() => work(directory), this.#writeDeadline(), giveUp);
  }

  async eraseRemovedKeys(): Promise<void> {
    // VACUUM cannot run in a transaction
    const connection = new SqliteConnection(this.#shared.file, sqliteOpenWaitMs);
    try {
      connection.run('vacuum');
      connection.run('pragma wal_checkpoint(truncate)');
    } finally {
      connection.close();
    }
  }

  watch(): void {
    this.#shared.watcher ??= new SqliteConnection(this.#shared.file, sqliteOpenWaitMs);
  }

  /**
   * SQLite's count of commits by all other connections, of this process and of others. A request
   * asks for it several times without waiting, and each reading takes 4 µs.
   */
  changeMark(): number | undefined {
    const shared = this.#shared;
    if (shared.watcher === undefined) return undefined;
    if (shared.changeMark === undefined) {
      const [row] = shared.watcher.all('pragma data_version', []);
      shared.changeMark = Number(row?.data_version);
      queueMicrotask(() => {
        shared.changeMark = undefined;
      });
    }
    return shared.changeMark;
  }

  /** The mark is read from the database itself. */
  changeMarkAgeMs(): number {
    return 0;
  }

  /** Needs no lock if nothing is to be migrated: another process may write for long. */
  async migrate(): Promise<MigrationResult> {
    const known = listMigrations('sqlite');
    const current = known.at(-1)?.name ?? '';
    const listPending = () => pendingMigrations(known, this.#appliedMigrations());
    if (listPending().length === 0) return { applied: [], current };
    const migrateAll = (): MigrationResult => {
      this.#connection.run(createMigrationTable);
      const pending = listPending();
      for (const migration of pending) {
        for (const statement of migration.statements) this.#connection.run(statement);
        this.#connection.change(...recordMigration(migration));
      }
      return { applied: pending.map(({ name }) => name), current };
    };
    return this.#shared.writer.write(migrateAll, performance.now() + migrationMsMax);
  }

  async checkReady(): Promise<void> {
    const damage = knownDamage(this.#shared.file);
    if (damage !== undefined) throw damage;
    requireMigrated('sqlite', this.#appliedMigrations(), `the embedded store '${this.#shared.file}'`);
  }

  async examine(full = false): Promise<readonly StoreCheck[]> {
    const schema = await checkThat('schema', 'This version can work with the schema', () => this.checkReady());
    const integrity = await checkThat('integrity', 'The file is whole', async () => this.#checkIntegrity(full));
    if (!schema.ok || !integrity.ok) return [schema, integrity];
    const present = this.#connection.all("select name from sqlite_master where type in ('index', 'trigger')", []);
    const names = present.map(({ name }) => String(name));
    return [schema, integrity, ...checkObjects('sqlite', this.#appliedMigrations(), names)];
  }

  async readSize(): Promise<readonly StorePart[]> {
    const { file } = this.#shared;
    return [
      { part: 'database', bytes: fileBytes(file) },
      { part: 'wal', bytes: fileBytes(`${file}-wal`) },
    ];
  }

  /** Reads each page and counts the entries of indexes; `full` takes some thirty times as long. */
  #checkIntegrity(full: boolean): void {
    const sql = full ? 'pragma integrity_check' : 'pragma quick_check';
    const texts = this.#connection.all(sql, []).map((row) => String(Object.values(row)[0]));
    const faults = texts.filter((text) => text !== 'ok');
    const orphans = this.#connection.all('pragma foreign_key_check', []).length;
    const problems = [...faults, ...(orphans > 0 ? [`${orphans} rows refer to something that is not there`] : [])];
    if (problems.length > 0) {
      const shown = problems.slice(0, 3).join('; ').replaceAll('\n', ' ');
      throw new StorageError(
        'UNUSABLE',
        `Cannot rely on the embedded store '${this.#shared.file}': its file must be undamaged: ${shown}; stop the service and restore a backup with 'subreport restore'`,
      );
    }
  }

  /** Running reads are interrupted; pending writes finish. */
  async close(): Promise<void> {
    const { readers, pageReaders, watcher, writer, use } = this.#shared;
    await readers.close();
    pageReaders.close();
    watcher?.close();
    await writer.close();
    use.release();
  }

  #appliedMigrations(): AppliedMigration[] {
    const [table] = this.#connection.all("select name from sqlite_master where name = 'schema_migration'", []);
    if (table === undefined) return [];
    return this.#connection.all(selectMigrations, []).map(toAppliedMigration);
  }

  #write<T>(work: () => T): Promise<T> {
    return this.#shared.writer.write(work, this.#writeDeadline());
  }

  #writeDeadline(): number {
    return this.#bounds.deadline ?? performance.now() + this.#shared.operationMs;
  }

  protected change<T>(change: TenantChange): Promise<T> {
    const { writer, keepsHistory, bytesMax } = this.#shared;
    return writer.change(
      { ...change, keepsHistory, bytesMax },
      this.#bounds.deadline ?? performance.now() + changeMsMax,
    );
  }
}

const fileBytes = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const createMigrationTable =
  'create table if not exists schema_migration (name text not null primary key, checksum text not null, oldest_schema text not null) strict';

/**
 * Opens a staged load on the embedded store in its own thread: the final comparison takes seconds,
 * during which the main thread keeps serving requests.
 */
function openStagedLoad(start: StagedLoadStart): StagedLoad {
  const thread = new SqliteThread<StagedLoadRequest>(new URL('./staged-load-thread.ts', import.meta.url), start);
  return {
    add: (rows) => thread.request({ kind: 'add', rows }),
    finish: (dryRun, guard) => thread.request<StagedCounts>({ kind: 'finish', dryRun, guard }),
    close: () => thread.end(),
  };
}
