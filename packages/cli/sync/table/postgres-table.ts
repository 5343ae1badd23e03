import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  databaseUrlRule,
  driverUrl,
  neverSendClearText,
  privacyFault,
  readDatabaseUrl,
  tlsFault,
} from '../../../outgoing/database.ts';
import { SyncError } from '../source/error.ts';
import { type Cell, columns, type Row } from '../source/record-row.ts';
import { columnList, type TableDatabase } from './table-copy.ts';

/** Longest wait for a connection. */
export const databaseConnectMs = 10_000;

/** Rows per batch of a reader. */
const batchRows = 2_000;

const isInstant = columns.map(({ type }) => type === 'instant');
const selected = columns.map(({ name, type }) => (type === 'instant' ? `${name}::text` : name)).join(', ');

/** The length of `2026-11-23 03:00:00+00`. */
const instantLength = 22;

/**
 * A cell as a row has it: dates as in a record. A date that `sync` does not write, such as one with
 * a fraction, of another era or of no end, stays as it is, and equals no record.
 */
function cellOf(cell: Cell, index: number): Cell {
  if (!isInstant[index] || typeof cell !== 'string' || cell.length !== instantLength) return cell;
  return `${cell.slice(0, 10)}T${cell.slice(11, 19)}Z`;
}

/**
 * A transaction of a sync or a comparison waits for the service, longer than the time limits of its
 * role may allow. Not every version has all of them.
 */
const unlimited = `select set_config(name, '0', true) from pg_settings
  where name in ('idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout')`;

/** Makes `::text` of a date that of UTC, whatever the session has. */
const utcDates = `set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'`;

/** A database of PostgreSQL. A sync holds an advisory lock of its table. */
export class PostgresTables implements TableDatabase {
  readonly shown: string;
  readonly types = {
    text: 'text',
    instant: 'timestamp with time zone',
    integer: 'integer',
    boolean: 'boolean',
  } as const;
  readonly #client: pg.Client;

  private constructor(client: pg.Client, shown: string) {
    this.#client = client;
    this.shown = shown;
  }

  /** Connects. What the URL lacks is that of libpq: `PGPASSWORD`, `~/.pgpass` and others. */
  static async connect(url: string, allowPlain = false): Promise<PostgresTables> {
    const read = readDatabaseUrl(url);
    if (read === undefined) throw invalid('--to', databaseUrlRule);
    const fault = allowPlain ? undefined : privacyFault(read);
    const { shown } = read;
    if (fault !== undefined) throw invalid(shown, `${fault}; --allow-plain permits others`);
    const client = clientOf(url, shown);
    neverSendClearText(client);
    client.on('error', () => undefined); // running queries reject anyway
    const tables = new PostgresTables(client, shown);
    await tables.#try(client.connect());
    return tables;
  }

  async beginWriting(table: string): Promise<void> {
    await this.all('begin');
    await this.all(unlimited);
    await this.all(utcDates);
    const lock = `select pg_try_advisory_xact_lock(hashtext('subreport sync'), hashtext($1)) as locked,
      has_database_privilege(current_database(), 'temporary') as stages`;
    const [row] = await this.all(lock, [table]);
    if (row?.stages === false)
      throw invalid(this.shown, 'its role must be allowed to create temporary tables: grant temporary on database …');
    if (row?.locked === true) return;
    throw new SyncError(
      'DESTINATION_BUSY',
      `Cannot sync to table '${table}' of ${this.shown}: no other sync of it may be running; try again when it has ended`,
    );
  }

  async beginReading(): Promise<void> {
    await this.all('begin isolation level repeatable read read only');
    await this.all(unlimited);
    await this.all(utcDates);
  }

  async all(sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return (await this.#try(this.#client.query(sql, [...values]))).rows;
  }

  async columnsOf(table: string): Promise<readonly { name: string; type: string }[]> {
    const found = await this.all(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
      [table],
    );
    return found.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  }

  async load(table: string, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    const copy = this.#client.query(copyFrom(`copy ${table} (${columnList}) from stdin`));
    await this.#try(pipeline(Readable.from(copyLines(batches), { objectMode: false }), copy));
  }

  async *rows(table: string): AsyncGenerator<readonly Row[], void, undefined> {
    await this.all(
      `declare copy cursor for select ${selected} from ${table} as stored
       order by stored.created_date, stored.id collate "C"`,
    );
    const fetch = { text: `fetch ${batchRows} from copy`, rowMode: 'array' as const };
    for (;;) {
      const { rows } = await this.#try(this.#client.query<Cell[]>(fetch));
      if (rows.length === 0) break;
      yield rows.map((row) => row.map(cellOf));
    }
    await this.all('close copy');
  }

  async commit(): Promise<void> {
    await this.all('commit');
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined); // the server rolls back
  }

  async #try<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw toSyncError(error, this.shown);
    });
  }
}

const invalid = (what: string, rule: string): SyncError =>
  new SyncError('DESTINATION_INVALID', `Cannot use ${what}: ${rule}`);

/** Creates a client, which reads the files that the URL names. */
function clientOf(url: string, shown: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: driverUrl(url),
      application_name: 'subreport-sync',
      connectionTimeoutMillis: databaseConnectMs,
    });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw invalid('--to', databaseUrlRule);
    throw invalid(shown, `sslrootcert, sslcert and sslkey must be files that this user can read: '${path}': ${code}`);
  }
}

/** SQLSTATEs of lost connections, a standby, conflicts, resources, locks, shutdowns, the system. */
const temporary = /^(08|25006|40|53|55|57|58)/;

function toSyncError(error: unknown, shown: string): unknown {
  const { code, message = '', syscall } = error as { code?: string; message?: string; syscall?: string };
  const isOfDatabase = error instanceof pg.DatabaseError;
  const fault = tlsFault(error);
  if (fault !== undefined) return invalid(shown, fault);
  if (!isOfDatabase && syscall === undefined && !/^(Connection|timeout|Client)/i.test(message)) return error;
  const kind = isOfDatabase && !temporary.test(code ?? '') ? 'DESTINATION_INVALID' : 'DESTINATION_FAILED';
  const [first] = (message || `${code}`).split('\n');
  return new SyncError(kind, `Cannot use ${shown}: it must accept the copy: ${first}`, { cause: error });
}

/** The lines of `COPY`'s text format. */
async function* copyLines(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<string, void, undefined> {
  for await (const rows of batches) yield rows.map((row) => `${row.map(copyCell).join('\t')}\n`).join('');
}

const copyCell = (cell: Cell): string => {
  if (cell === null) return '\\N';
  const text = String(cell);
  // no field has a tab or a line break
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
};
