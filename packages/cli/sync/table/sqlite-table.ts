import { existsSync, rmSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { SyncError } from '../source/error.ts';
import { type Cell, columns, type Row } from '../source/record-row.ts';
import { type FileSentences, onFile, openDatabase } from '../source/sqlite-file.ts';
import { columnList, type TableDatabase } from './table-copy.ts';

/** Time limit for waiting for another process that writes to the database, in milliseconds. */
const waitMsMax = 2_000;

/** Rows per batch of a reader. */
const batchRows = 1_000;

const placeholders = columns.map((_, at) => `?${at + 1}`).join(', ');
const isBoolean = columns.map(({ type }) => type === 'boolean');

/** A cell as a row has it. One that `sync` does not write stays as it is, and equals no record. */
function cellOf(cell: unknown, index: number): Cell {
  if (typeof cell !== 'bigint') return cell as Cell;
  if (isBoolean[index] && (cell === 0n || cell === 1n)) return cell === 1n;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : `${cell}`;
}

function takeRows(found: Iterator<unknown[]>): Row[] {
  const batch: Row[] = [];
  while (batch.length < batchRows) {
    const { done, value } = found.next();
    if (done === true) break;
    batch.push(value.map(cellOf));
  }
  return batch;
}

/** A database file of SQLite. A new file uses write-ahead logging, so that readers never wait. */
export class SqliteTables implements TableDatabase {
  readonly shown: string;
  readonly types = { text: 'text', instant: 'text', integer: 'integer', boolean: 'boolean' } as const;
  readonly #file: string;
  readonly #isNew: boolean;
  readonly #sentences: FileSentences;
  readonly #database: DatabaseSync;
  #isCommitted = false;

  /** @param create whether to create the file if it does not exist */
  constructor(file: string, create: boolean) {
    this.#file = file;
    this.shown = `sqlite:${file}`;
    this.#isNew = !existsSync(file);
    this.#sentences = {
      cannot: `Cannot use ${this.shown}`,
      busy: 'no other process may be writing to it, such as another sync',
      rule: 'it must be a database of SQLite that this user can write',
    };
    if (this.#isNew && !create)
      throw new SyncError(
        'DESTINATION_INVALID',
        `Cannot use ${this.shown}: it must be a file that 'subreport sync' has made`,
      );
    this.#database = this.#try(() => openDatabase(file, waitMsMax));
  }

  async beginWriting(): Promise<void> {
    this.#try(() => {
      if (this.#isNew) this.#database.exec('pragma journal_mode = wal');
      this.#database.exec('begin immediate');
    });
  }

  async beginReading(): Promise<void> {
    this.#try(() => this.#database.exec('begin'));
  }

  async all(sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return this.#try(() => this.#prepare(sql).all(...(values as SQLInputValue[])));
  }

  async columnsOf(table: string): Promise<readonly { name: string; type: string }[]> {
    const found = await this.all('select name, lower(type) as type from pragma_table_info($1)', [table]);
    return found.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  }

  async load(table: string, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    const insert = this.#prepare(`insert into ${table} (${columnList}) values (${placeholders})`);
    for await (const rows of batches)
      this.#try(() => {
        for (const row of rows) insert.run(...row.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)));
      });
  }

  async *rows(table: string): AsyncGenerator<readonly Row[], void, undefined> {
    const statement = this.#prepare(`select ${columnList} from ${table} order by created_date, id`);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true); // a larger integer than a number has would be an error
    const found = statement.iterate() as Iterator<unknown> as Iterator<unknown[]>;
    for (;;) {
      const batch = this.#try(() => takeRows(found));
      if (batch.length === 0) return;
      yield batch;
    }
  }

  async commit(): Promise<void> {
    this.#try(() => this.#database.exec('commit'));
    this.#isCommitted = true;
  }

  async close(): Promise<void> {
    this.#database.close(); // rolls back
    if (this.#isNew && !this.#isCommitted)
      for (const side of ['', '-wal', '-shm']) rmSync(this.#file + side, { force: true });
  }

  #prepare(sql: string): StatementSync {
    return this.#database.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'));
  }

  #try<T>(work: () => T): T {
    return onFile(this.#sentences, work);
  }
}
