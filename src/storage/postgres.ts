import pg from 'pg';
import { setRevision, someTombstone } from './change-sql.ts';
import { countChanges, type RowChange, recount } from './count-changes.ts';
import { StorageError } from './error.ts';
import type { ImportLock } from './import-lock.ts';
import { type ImportMark, markStatement } from './import-mark.ts';
import { countLoaded, type LoadCounts } from './load-counts.ts';
import { listMigrations, pendingMigrations } from './migrations.ts';
import { type BatchStatement, parserOf, runBatch } from './postgres-batch.ts';
import {
  announceChange,
  begin,
  columnArrays,
  deleteRows,
  lockTenant,
  removeTombstones,
  upsertRows,
} from './postgres-change-sql.ts';
import { countOnPostgres } from './postgres-count.ts';
import { isFromDriver, toStorageError, withAddress } from './postgres-error.ts';
import { examinePostgres } from './postgres-examine.ts';
import { lockImportOnPostgres } from './postgres-import-lock.ts';
import { PostgresListener } from './postgres-listener.ts';
import { appliedMigrations, migratePostgres } from './postgres-migrate.ts';
import { openPostgresReplacement } from './postgres-replacement.ts';
import { bypassesRowSecurity } from './postgres-role.ts';
import { beginReading, distributedOption, sessionOptions, tenantOpening } from './postgres-session.ts';
import { openPostgresSnapshot } from './postgres-snapshot.ts';
import { inOneWrite, inTransaction, runTransaction } from './postgres-transaction.ts';
import type { Replacement } from './replacement.ts';
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
import type { SubscriptionRow } from './subscription-row.ts';
import { toCountedRow } from './subscription-span.ts';
import { removeOldTombstones, setSweptRevision } from './tombstone.ts';

/** How to reach PostgreSQL, and what to do when a pooled connection breaks while idle. */
export interface PostgresOptions {
  readonly url: string;
  /** Connections at most, at least 1. */
  readonly poolSize: number;
  /** Told of each broken idle connection; the pool replaces it by itself. */
  readonly onConnectionError: (error: Error) => void;
}

/** Opens the store on PostgreSQL 15 to 18. Connects at first use; each statement and each wait for a connection is bounded in time. */
export function openPostgresStore(options: PostgresOptions): Store {
  return new PostgresStore(options);
}

/** Milliseconds; statement < query, so that the server cancels what it runs before we stop waiting for it; a batch has the time of one query in all. */
const timeouts = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 10_000,
  query_timeout: 12_000,
  lock_timeout: 8_000,
  idle_in_transaction_session_timeout: 15_000,
} as const;

type Client = pg.ClientBase;

/** What a changing statement did to a tenant's rows. */
interface Changed<T> {
  readonly changes: readonly RowChange[];
  readonly result: T;
  /** Where the import stands that made the change. */
  readonly mark?: ImportMark | 'finished';
}

class PostgresStore implements Store {
  readonly engine = 'postgres';
  readonly #pool: pg.Pool;
  readonly #listener: PostgresListener;
  readonly #url: string;
  readonly #names = new Map<string, string>();
  #stepDown: Promise<boolean> | undefined;

  constructor({ url, poolSize, onConnectionError }: PostgresOptions) {
    this.#url = url;
    this.#listener = new PostgresListener({
      connectionString: url,
      keepAlive: true,
      application_name: 'subreport-listen',
    });
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      ...timeouts,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      pipeline: true, // statements that do not wait for each other share a round trip
      application_name: 'subreport',
      options: sessionOptions,
      types: { getTypeParser: parserOf },
    });
    // Without a listener one killed backend would end the process: the pool listens for idle connections, a connection in use has none of its own.
    this.#pool.on('error', onConnectionError);
    this.#pool.on('connect', (client) => client.on('error', () => undefined)); // its statements fail with the same error
  }

  readTenant<T>(tenant: TenantId, work: (reader: TenantReader) => Promise<T>): Promise<T> {
    return this.#withClient((client) => {
      let committing: Promise<unknown> | undefined;
      const all: TenantReader['all'] = (sql, values = []) => this.#query(client, sql, [tenant, ...values]);
      const last: TenantReader['all'] = (sql, values) =>
        inOneWrite(client, () => {
          const reading = all(sql, values);
          committing = client.query('commit');
          return reading;
        });
      return this.#inTenant(
        client,
        beginReading,
        tenant,
        () => work({ all, last }),
        () => committing,
      );
    });
  }

  readTenantOnce(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#withClient(async (client) => {
      const opening = tenantOpening(beginReading, tenant, await this.#mustStepDown(client)).map(([text, values]) =>
        this.#prepared(text, values),
      );
      const asked = statements.map(({ sql, values }) => this.#prepared(sql, [tenant, ...values]));
      const results = await runTransaction(client, [...opening, ...asked, this.#prepared('commit')]);
      return results.slice(opening.length, -1);
    });
  }

  openSnapshot(tenant: TenantId, pauseMsMax: number): Promise<TenantSnapshot> {
    return openPostgresSnapshot(this.#url, tenant, pauseMsMax);
  }

  async openReplacement(tenant: TenantId): Promise<Replacement> {
    const replacement = await openPostgresReplacement(this.#url, tenant);
    return {
      ...replacement,
      finish: async (dryRun) => {
        const counts = await replacement.finish(dryRun);
        this.#listener.noteOwnChange();
        return counts;
      },
    };
  }

  lockImport(tenant: TenantId): Promise<ImportLock | undefined> {
    return lockImportOnPostgres(this.#url, tenant);
  }

  loadSubscriptions(tenant: TenantId, rows: readonly SubscriptionRow[], mark?: MarkImport): Promise<LoadCounts> {
    const columns = columnArrays(rows);
    const sql = { change: upsertRows, values: columns, unbury: columns[0] };
    return this.#changeTenant(tenant, sql, (returned) => {
      const old = new Map(returned.filter(({ kind }) => kind === 'old').map((row) => [row.id, toCountedRow(row)]));
      const changed = new Set(returned.filter(({ kind }) => kind === 'changed').map(({ id }) => id));
      const changes = rows
        .filter(({ id }) => changed.has(id))
        .map((after) => {
          const before = old.get(after.id);
          return before === undefined ? { after } : { before, after };
        });
      const result = countLoaded(rows.length, changes);
      const next = mark?.(result);
      return { changes, result, ...(next !== undefined && { mark: next }) };
    });
  }

  deleteSubscriptions(tenant: TenantId, ids: readonly string[]): Promise<number> {
    return this.#changeTenant(tenant, { change: deleteRows, values: [ids] }, (removed) => ({
      changes: removed.map((row) => ({ before: toCountedRow(row) })),
      result: removed.length,
    }));
  }

  async sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number> {
    const removed = await this.#withTenant(begin, tenant, async (client) => {
      const [locked] = await this.#query(client, lockTenant, [tenant]);
      const rows = await this.#query(client, removeOldTombstones, [tenant, revision, limit]);
      if (rows.length === 0) return 0;
      await this.#query(client, setSweptRevision, [tenant, Number(locked?.revision ?? 0) + 1, revision]);
      await client.query(announceChange);
      return rows.length;
    });
    this.#listener.noteOwnChange();
    return removed;
  }

  recountSubscriptions(tenant: TenantId): Promise<void> {
    return this.#withMigrator((client) =>
      this.#inTenant(client, begin, tenant, async () => {
        const [locked] = await this.#query(client, lockTenant, [tenant]);
        await countOnPostgres((text, values) => this.#query(client, text, values), tenant, recount());
        await this.#query(client, setRevision, [tenant, Number(locked?.revision ?? 0) + 1]);
        await client.query(announceChange);
      }),
    );
  }

  /**
   * Changes rows of a tenant under its lock, and with them what must stay true of them: the counts, the revision and the tombstones. `change` is bound to the
   * tenant, the revision that it makes and `values`; it returns the rows that it changed, of which `read` makes the changes and the result. The ids of
   * `unbury` are no longer removed ones.
   */
  async #changeTenant<T>(
    tenant: TenantId,
    {
      change,
      values,
      unbury,
    }: { readonly change: string; readonly values: readonly unknown[]; readonly unbury?: unknown },
    read: (rows: readonly Row[]) => Changed<T>,
  ): Promise<T> {
    const done = await this.#withTenant(begin, tenant, async (client) => {
      const [[locked], buried] = await Promise.all([
        this.#query(client, lockTenant, [tenant]),
        this.#query(client, someTombstone, [tenant]),
      ]);
      const revision = Number(locked?.revision ?? 0) + 1;
      const rows = await this.#query(client, change, [tenant, revision, ...values]);
      const { changes, result, mark } = read(rows);
      const ask = (text: string, bound: readonly unknown[]) => this.#query(client, text, bound);
      const isUnburied = unbury !== undefined && buried.length > 0;
      await Promise.all([
        ...(mark === undefined ? [] : [ask(...markStatement(tenant, mark))]),
        ...(changes.length === 0
          ? []
          : [
              countOnPostgres(ask, tenant, countChanges(changes)),
              ...(isUnburied ? [ask(removeTombstones, [tenant, unbury])] : []),
              ask(setRevision, [tenant, revision]),
              client.query(announceChange),
            ]),
      ]);
      return result;
    });
    this.#listener.noteOwnChange();
    return done;
  }

  async readDirectory<S extends string>(
    sql: DirectorySql<S>,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    return this.#withClient((client) => this.#query(client, sql, values));
  }

  async writeDirectory(
    statements: readonly DirectoryStatement[],
    { announce } = { announce: false },
  ): Promise<readonly (readonly Row[])[]> {
    const written = await this.#withClient(async (client) => {
      const asked = statements.map(({ sql, values }) => this.#prepared(sql, values));
      if (asked.length === 1 && !announce) return runBatch(client, asked);
      const opening = ['begin', ...(announce ? [announceChange] : [])].map((text) => this.#prepared(text));
      const results = await runTransaction(client, [...opening, ...asked, this.#prepared('commit')]);
      return results.slice(opening.length, -1);
    });
    if (announce) this.#listener.noteOwnChange();
    return written;
  }

  watch(): void {
    this.#listener.start();
  }

  changeMark(): number | undefined {
    return this.#listener.mark();
  }

  migrate(): Promise<MigrationResult> {
    return this.#withMigrator((client) =>
      inTransaction(client, [client.query('begin')], () => migratePostgres(client)),
    );
  }

  async checkReady(): Promise<void> {
    const applied = await this.#withClient((client) => appliedMigrations(client));
    if (pendingMigrations(listMigrations('postgres'), applied).length > 0) {
      throw new StorageError(
        'UNUSABLE',
        "Cannot use the database: its schema must be brought up to date; run 'subreport migrate'",
      );
    }
  }

  async examine(): Promise<readonly StoreCheck[]> {
    const others = await this.#withClient(examinePostgres);
    return [await checkThat('schema', 'This version can work with the schema', () => this.checkReady()), ...others];
  }

  async close(): Promise<void> {
    await this.#listener.close();
    await this.#pool.end();
  }

  /** A transaction in which row-level security lets one tenant's rows through, whatever role we connected as. */
  async #withTenant<T>(begin: string, tenant: TenantId, work: (client: Client) => Promise<T>): Promise<T> {
    return this.#withClient((client) => this.#inTenant(client, begin, tenant, () => work(client)));
  }

  async #inTenant<T>(
    client: Client,
    begin: string,
    tenant: TenantId,
    work: () => Promise<T>,
    committing?: () => Promise<unknown> | undefined,
  ): Promise<T> {
    const stepDown = await this.#mustStepDown(client);
    return inOneWrite(client, () => {
      const opening = tenantOpening(begin, tenant, stepDown).map(([text, values]) => this.#query(client, text, values));
      return inTransaction(client, opening, work, committing);
    });
  }

  /** Whether the role we connected as would walk past row-level security; asked once. */
  #mustStepDown(client: Client): Promise<boolean> {
    this.#stepDown ??= bypassesRowSecurity(client).catch((error: unknown) => {
      this.#stepDown = undefined;
      throw error;
    });
    return this.#stepDown;
  }

  async #withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw withAddress(toStorageError(error), this.#url);
    });
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const translated = isFromDriver(error) ? toStorageError(error) : error;
      client.release(translated instanceof StorageError && translated.code === 'UNAVAILABLE');
      throw translated;
    }
  }

  /** A connection of its own without bounds in time: a migration of a large table, or the wait for another migrator, takes as long as it takes. */
  async #withMigrator<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const { connectionTimeoutMillis } = timeouts;
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis,
      pipeline: true,
      options: distributedOption,
      application_name: 'subreport-migrate',
    });
    client.on('error', () => undefined); // a broken connection also rejects the query that was under way
    try {
      await client.connect().catch((error: unknown) => {
        throw withAddress(toStorageError(error), this.#url);
      });
      return await work(client);
    } catch (error) {
      throw isFromDriver(error) ? toStorageError(error) : error;
    } finally {
      await client.end();
    }
  }

  async #query(client: Client, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await client.query({ name: this.#nameOf(text), text, values: [...values] });
    return rows;
  }

  #prepared(text: string, values: readonly SqlValue[] = []): BatchStatement {
    return { name: this.#nameOf(text), text, values };
  }

  /** The name under which each connection prepares a statement. */
  #nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `s${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }
}
