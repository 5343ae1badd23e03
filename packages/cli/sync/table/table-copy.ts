import { Readable } from 'node:stream';
import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import { type ColumnType, columns, type Row } from '../source/record-row.ts';
import type { Changes, Destination, Position } from './destination.ts';

/** A database for a copy: what differs between the engines. Statements bind `$1`, `$2` …. */
export interface TableDatabase {
  /** The database in messages, without password. */
  readonly shown: string;
  readonly types: Readonly<Record<ColumnType, string>>;
  /** Begins a transaction, and keeps other syncs of this table from running. */
  beginWriting(table: string): Promise<void>;
  /** Begins a transaction that reads one snapshot. */
  beginReading(): Promise<void>;
  all(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Names and types of the columns of a table; none if there is no such table. */
  columnsOf(table: string): Promise<readonly { readonly name: string; readonly type: string }[]>;
  /** Inserts rows into an empty table. */
  load(table: string, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** The rows in the order of the report. */
  rows(table: string): AsyncIterable<readonly Row[]>;
  commit(): Promise<void>;
  /** Rolls back what is not committed, and disconnects. */
  close(): Promise<void>;
}

/** The table that has the position of each copy, beside the copies. */
const stateName = 'subreport_sync';
const stateColumns = 'table_name, service, client_id, token, revision, records, synced_at';

/** The names of the columns, for statements. */
export const columnList = columns.map(({ name }) => name).join(', ');
const others = columns.slice(1).map(({ name }) => name);
const tuple = (of: string) => `(${others.map((name) => `${of}.${name}`).join(', ')})`;

/** Makes an insert into `… as copy` update the rows that differ, and no others. */
const onConflict = `on conflict (id) do update set ${others.map((name) => `${name} = excluded.${name}`).join(', ')}
  where ${tuple('copy')} is distinct from ${tuple('excluded')}`;

/** A table name, or schema and table, as SQL. */
const quoted = (table: string): string =>
  table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');

/**
 * A copy in a table of a database. Records and position change in one transaction, so that a reader
 * sees the copy before a sync or after it, whenever the process or the connection ends.
 */
export class TableCopy implements Destination {
  readonly #database: TableDatabase;
  readonly #table: string;
  readonly #reload: boolean;
  #source: SourceIdentity | undefined;
  /** Whether a transaction has begun. */
  #hasBegun = false;

  /** @param reload whether to load the whole report again, even if rows of the copy were changed */
  constructor(database: TableDatabase, table: string, reload = false) {
    this.#database = database;
    this.#table = table;
    this.#reload = reload;
  }

  async begin(source: SourceIdentity): Promise<Position | undefined> {
    this.#source = source;
    await this.#database.beginWriting(this.#table);
    this.#hasBegun = true;
    const found = await this.#database.columnsOf(this.#table);
    if (found.length === 0) return undefined;
    const stored = await this.#stored();
    if (stored === undefined)
      throw this.#changed('be a copy that sync made, or not exist', 'a table of something else');
    this.#requireColumns(found);
    if (stored.service !== source.service || stored.clientId !== source.clientId) throw this.#isOther(stored);
    if (this.#reload) return undefined;
    const rows = await this.count();
    if (rows !== stored.rows)
      throw this.#changed(`have the ${stored.rows} records of the last sync`, `${rows} records`, reloadRemedy);
    return stored;
  }

  async resync(batches: AsyncIterable<readonly Row[]>): Promise<void> {
    const database = this.#database;
    const table = quoted(this.#table);
    if ((await database.columnsOf(this.#table)).length > 0)
      return this.#merge(
        batches,
        `delete from ${table} as copy where not exists (select 1 from ${loaded} as loaded where loaded.id = copy.id)`,
      );
    await database.all(`create table ${table} ${this.#definition(({ isOptional }) => !isOptional)}`);
    await database.load(table, batches);
  }

  /** A removed record is loaded with its id alone. */
  async apply({ rows, removed }: Changes): Promise<void> {
    const gone = removed.map((id): Row => [id, ...others.map(() => null)]);
    if (rows.length + gone.length === 0) return;
    const isGone = `id in (select id from ${loaded} where created_date is null)`;
    await this.#merge(Readable.from([[...rows, ...gone]]), `delete from ${quoted(this.#table)} where ${isGone}`);
  }

  /**
   * Loads rows into a temporary table, deletes what they replace, and inserts or updates them. The
   * key of that table keeps SQLite from reading all of it for each row of the copy.
   */
  async #merge(batches: AsyncIterable<readonly Row[]>, deletion: string): Promise<void> {
    const database = this.#database;
    await database.all(`create temp table ${loaded} ${this.#definition(() => false)}`);
    await database.load(loaded, batches);
    await database.all(deletion);
    await database.all(
      `insert into ${quoted(this.#table)} as copy (${columnList})
       select ${columnList} from ${loaded} where created_date is not null ${onConflict}`,
    );
    await database.all(`drop table ${loaded}`);
  }

  #definition(isRequired: (column: (typeof columns)[number]) => boolean): string {
    const parts = columns.map((column, at) => {
      const rule = at === 0 ? ' primary key not null' : isRequired(column) ? ' not null' : '';
      return `${column.name} ${this.#database.types[column.type]}${rule}`;
    });
    return `(${parts.join(', ')})`;
  }

  async count(): Promise<number> {
    const [row] = await this.#database.all(`select count(*) as count from ${quoted(this.#table)}`);
    return Number(row?.count);
  }

  async commit({ token, revision, rows, syncedAt }: Position): Promise<void> {
    const { service, clientId } = this.#source as SourceIdentity;
    const { types } = this.#database;
    await this.#database.all(
      `create table if not exists ${this.#state} (table_name text primary key, service text not null,
        client_id text not null, token text not null, revision bigint not null, records bigint not null,
        synced_at ${types.instant} not null)`,
    );
    await this.#database.all(`delete from ${this.#state} where table_name = $1`, [this.#name]);
    const values = [this.#name, service, clientId, token, revision, rows ?? null, syncedAt];
    await this.#database.all(
      `insert into ${this.#state} (${stateColumns}) values ($1, $2, $3, $4, $5, $6, $7)`,
      values,
    );
    await this.#database.commit();
  }

  /** The position of the copy; `undefined` if there is none. */
  async position(): Promise<(Position & SourceIdentity) | undefined> {
    await this.#read();
    const found = await this.#database.columnsOf(this.#table);
    return found.length === 0 ? undefined : this.#stored();
  }

  /** The rows from one snapshot in the order of the report: by `created_date`, then `id`. */
  async *rows(): AsyncGenerator<readonly Row[], void, undefined> {
    await this.#read();
    this.#requireColumns(await this.#database.columnsOf(this.#table));
    yield* this.#database.rows(quoted(this.#table));
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #read(): Promise<void> {
    if (!this.#hasBegun) await this.#database.beginReading();
    this.#hasBegun = true;
  }

  /** The name of the table without its schema: the state is beside it. */
  get #name(): string {
    return this.#table.split('.').at(-1) as string;
  }

  get #stateTable(): string {
    return [...this.#table.split('.').slice(0, -1), stateName].join('.');
  }

  get #state(): string {
    return quoted(this.#stateTable);
  }

  async #stored(): Promise<(Position & SourceIdentity) | undefined> {
    if ((await this.#database.columnsOf(this.#stateTable)).length === 0) return undefined;
    const statement = `select ${stateColumns} from ${this.#state} where table_name = $1`;
    const [row] = await this.#database.all(statement, [this.#name]);
    if (row === undefined) return undefined;
    return {
      service: String(row.service),
      clientId: String(row.client_id),
      token: String(row.token),
      revision: Number(row.revision),
      rows: Number(row.records),
      syncedAt: new Date(row.synced_at as string | Date).toISOString(),
    };
  }

  /** Throws unless the table has the columns of a copy. */
  #requireColumns(found: readonly { readonly name: string; readonly type: string }[]): void {
    const describe = (all: readonly { name: string; type: string }[]) => all.map(({ name, type }) => `${name} ${type}`);
    const [wanted, given] = [
      describe(columns.map(({ name, type }) => ({ name, type: this.#database.types[type] }))),
      describe(found),
    ];
    const missing = wanted.filter((column) => !given.includes(column));
    const more = given.filter((column) => !wanted.includes(column));
    if (missing.length + more.length === 0) return;
    const without = missing.length === 0 ? '' : ` without ${missing.join(', ')}`;
    const besides = more.length === 0 ? '' : ` with ${more.join(', ')}`;
    throw this.#changed('have the columns of a copy, and no others', `a table${without}${besides}`);
  }

  #changed(rule: string, found: string, remedy = tableRemedy): SyncError {
    return new SyncError(
      'DESTINATION_CHANGED',
      `Cannot sync to table '${this.#table}' of ${this.#database.shown}: it must ${rule}; ${remedy}: current value is ${found}`,
    );
  }

  #isOther({ service, clientId }: SourceIdentity): SyncError {
    return new SyncError(
      'OTHER_SOURCE',
      `Cannot sync to table '${this.#table}' of ${this.#database.shown}: it must be a copy for the same client of the same service; ${tableRemedy}: current value is a copy for '${clientId}' of ${service}`,
    );
  }
}

/** The table into which rows are loaded before the copy is brought in step with them. */
const loaded = 'subreport_sync_loaded';

const tableRemedy = 'choose another one, such as --table subscriptions_2, or drop it';
const reloadRemedy = 'use --reload to load it again';
