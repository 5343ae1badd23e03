import type pg from 'pg';
import type { TenantChange } from '../commit/tenant-change.ts';
import { TenantWriter } from '../commit/tenant-writer.ts';
import { operationMsDefault } from '../deadline.ts';
import {
  checkThat,
  type Directory,
  type DirectorySql,
  type DirectoryStatement,
  type ImportLock,
  type MigrationResult,
  type PoolUse,
  type ReadOptions,
  type Row,
  type SqlValue,
  type StagedLoad,
  type Store,
  type StoreCheck,
  type StorePart,
  type TenantId,
  type TenantReader,
  type TenantSnapshot,
  type TenantStatement,
} from '../store.ts';
import { lockImportOnPostgres } from './advisory-locks.ts';
import { announceChange } from './change-sql.ts';
import { useUnbounded } from './connect.ts';
import { PostgresConnections, type PostgresOptions, type Use } from './connections.ts';
import { requireUsable } from './database-facts.ts';
import { examinePostgres } from './examine.ts';
import { migratePostgres } from './migrate.ts';
import { ChangeNotifications } from './notifications.ts';
import { confirm } from './settle-commit.ts';
import { openPostgresSnapshot, statementMs } from './snapshot.ts';
import { openPostgresStagedLoad } from './staged-load.ts';
import { Statements } from './statements.ts';
import { type ChangeParts, runChange, writeTenant } from './tenant-changes.ts';
import { transactOnPostgres } from './transact.ts';

/**
 * Opens the store on PostgreSQL 15 to 18. Connects on first use; every wait of an operation is
 * bounded in time.
 */
export function openPostgresStore(options: PostgresOptions): Store {
  const { url, keepsHistory = true, tenantBytesMax: bytesMax = 0 } = options;
  const notifications = new ChangeNotifications(url, options.onPooler ?? (() => undefined));
  const connections = new PostgresConnections(options);
  const statements = new Statements();
  return new PostgresStore({ url, keepsHistory, bytesMax, notifications, connections, statements });
}

type Client = pg.ClientBase;

/** State shared by all views of a store (`within`). */
interface SharedParts {
  readonly url: string;
  readonly keepsHistory: boolean;
  readonly bytesMax: number;
  readonly connections: PostgresConnections;
  readonly statements: Statements;
  readonly notifications: ChangeNotifications;
}

class PostgresStore extends TenantWriter implements Store {
  readonly engine = 'postgres';
  /** Preparing them takes the process some milliseconds, for which its requests wait. */
  readonly servingBatchRowsMax = 3_000;
  readonly tenantBytesMax: number;
  readonly #shared: SharedParts;
  readonly #deadline: number | undefined;
  readonly #signal: AbortSignal | undefined;

  constructor(shared: SharedParts, deadline?: number, signal?: AbortSignal) {
    super();
    this.#shared = shared;
    this.#deadline = deadline;
    this.#signal = signal;
    this.tenantBytesMax = shared.bytesMax;
  }

  isHanging(tenant: string): boolean {
    return this.#shared.connections.isHanging(tenant);
  }

  poolUse(): PoolUse {
    return this.#shared.connections.poolUse;
  }

  observePoolWaits(observe: (seconds: number) => void): void {
    this.#shared.connections.observeWaits(observe);
  }

  within(deadline: number, signal?: AbortSignal): Store {
    return new PostgresStore(this.#shared, deadline, signal);
  }

  readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>): Promise<T> {
    const how = { tenant, reads: true, signal: this.#signal };
    return this.#use((client) => this.#shared.statements.read(client, tenant, work), how);
  }

  readTenantOnce(tenant: TenantId, statement: TenantStatement, options?: ReadOptions): Promise<readonly Row[]> {
    const read = { tenant, statement, isBounded: options?.isBounded === true };
    const how = { tenant, reads: true, signal: this.#signal };
    return this.#use((client) => this.#shared.statements.readOnce(client, read), how);
  }

  async openSnapshot(tenant: TenantId, pauseMsMax: number): Promise<TenantSnapshot> {
    const { url, connections } = this.#shared;
    const deadline = this.#deadline ?? performance.now() + statementMs;
    const snapshot = await openPostgresSnapshot(url, tenant, pauseMsMax, deadline);
    return { ...snapshot, all: (...read) => connections.watch(tenant, snapshot.all(...read)) };
  }

  openStagedLoad(tenant: TenantId, importId?: string, keepsOthers = false): Promise<StagedLoad> {
    const parts = this.#changeParts;
    return openPostgresStagedLoad(parts, { ...parts, tenant, importId, keepsOthers });
  }

  lockImport(tenant: TenantId): Promise<ImportLock | undefined> {
    const deadline = this.#deadline ?? performance.now() + operationMsDefault;
    return lockImportOnPostgres(this.#shared.url, tenant, deadline);
  }

  protected change<T>(change: TenantChange): Promise<T> {
    return runChange(this.#changeParts, change) as Promise<T>;
  }

  writeTenant(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return writeTenant(this.#changeParts, tenant, statements);
  }

  get #changeParts(): ChangeParts {
    return { ...this.#shared, use: (work, how) => this.#use(work, how) };
  }

  async readDirectory<S extends string>(
    sql: DirectorySql<S>,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    const { statements } = this.#shared;
    const read = [statements.prepare(sql, values)];
    const [rows = []] = await this.#use((client) => statements.run(client, read), { reads: true });
    return rows;
  }

  async writeDirectory(
    written: readonly DirectoryStatement[],
    { announce = false }: { readonly announce?: boolean } = {},
  ): Promise<readonly (readonly Row[])[]> {
    const { statements, notifications } = this.#shared;
    const prepared = written.map(({ sql, values }) => statements.prepare(sql, values));
    const isAlone = prepared.length === 1 && !announce;
    const unlessAlone = (...texts: string[]) => (isAlone ? [] : texts.map((text) => statements.prepare(text)));
    const opening = unlessAlone('begin', ...(announce ? [announceChange] : []));
    const all = [...opening, ...prepared, ...unlessAlone('commit')];
    const results = await this.#use((client) => confirm(client, statements.run(client, all)));
    if (announce) notifications.noteOwnChange();
    return results.slice(opening.length, opening.length + prepared.length);
  }

  transact<T>(work: (directory: Directory) => Promise<T>): Promise<T> {
    const onAnnounced = () => this.#shared.notifications.noteOwnChange();
    return transactOnPostgres({ ...this.#changeParts, onAnnounced }, work);
  }

  async eraseRemovedKeys(): Promise<void> {
    await useUnbounded(this.#shared.url, async (client) => {
      await client.query("set lock_timeout = '5s'");
      await client.query('vacuum (full) auth_key');
    });
  }

  watch(): void {
    this.#shared.notifications.start();
  }

  changeMark(): number | undefined {
    return this.#shared.notifications.mark();
  }

  changeMarkAgeMs(): number {
    return this.#shared.notifications.ageMs();
  }

  migrate(): Promise<MigrationResult> {
    return useUnbounded(this.#shared.url, migratePostgres);
  }

  checkReady(): Promise<void> {
    return this.#use(requireUsable, { reads: true });
  }

  async examine(): Promise<readonly StoreCheck[]> {
    const others = await this.#use(examinePostgres, { reads: true });
    const schema = await checkThat('schema', 'This version can work with the schema', () => this.checkReady());
    return [schema, ...others];
  }

  async readSize(): Promise<readonly StorePart[]> {
    const [row] = await this.readDirectory('select pg_database_size(current_database()) as bytes');
    return [{ part: 'database', bytes: Number(row?.bytes) }];
  }

  async close(): Promise<void> {
    await this.#shared.notifications.close();
    await this.#shared.connections.close();
  }

  #use<T>(work: (client: Client) => Promise<T>, how: Omit<Use, 'deadline'> = {}): Promise<T> {
    return this.#shared.connections.use(work, { ...how, deadline: this.#deadline });
  }
}
