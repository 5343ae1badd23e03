import pg from 'pg';
import type { Row } from '../../store.ts';
import { utf8Column } from '../../utf8-column.ts';
import type { DriverConnection, DriverQuery, MessageHandler } from './driver.ts';

/**
 * A statement and its values. A connection prepares a named one once and an unnamed one ('') each
 * time.
 */
export interface BatchStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/**
 * Runs statements in order and returns the rows of each. All statements and a single Sync are sent
 * in one write, so the server responds once (PostgreSQL, "Extended Query"); the driver would send a
 * Sync after each statement.
 *
 * After an error the server skips the remaining statements, and a transaction opened by the batch
 * stays open: close the connection. A batch that has been sent after it may fail too, because it
 * assumed that this one would prepare a statement.
 */
export function runBatch(
  client: pg.ClientBase,
  statements: readonly BatchStatement[],
): Promise<readonly (readonly Row[])[]> {
  return new Promise((resolve, reject) => {
    client.query(new Batch(statements, (error, results = []) => (error ? reject(error) : resolve(results))));
  });
}

type Value = Row[string];

interface Column {
  readonly name: string;
  readonly read: (bytes: Buffer, start: number, end: number) => Value;
}

/** Types of the server's messages ("Message Formats"). */
const parseComplete = '1'.charCodeAt(0);
const bindComplete = '2'.charCodeAt(0);
const commandComplete = 'C'.charCodeAt(0);
const dataRow = 'D'.charCodeAt(0);
const noData = 'n'.charCodeAt(0);
const rowDescription = 'T'.charCodeAt(0);

/**
 * A batch as the driver sees it: it sends the statements and receives the server's messages. It
 * extends `Query` because the driver accepts nothing else on a pipelined connection.
 */
class Batch extends pg.Query implements DriverQuery, MessageHandler {
  callback: (error: unknown, results?: readonly (readonly Row[])[]) => void;
  readonly #statements: readonly BatchStatement[];
  readonly #results: Row[][] = [[]];
  /** Of each statement, once they are known. */
  readonly #columns: (readonly Column[])[] = [];
  #connection: DriverConnection | undefined;

  constructor(statements: readonly BatchStatement[], callback: Batch['callback']) {
    super('');
    this.#statements = statements;
    this.callback = callback;
  }

  override submit = (connection: pg.Connection): void => {
    this.#connection = connection as DriverConnection;
    const known = knownColumns(connection);
    connection.stream.cork(); // one write for all messages
    for (const statement of this.#statements) {
      const columns = known.get(statement.name);
      this.#send(this.#connection, statement, columns === undefined);
      this.#columns.push(columns ?? []);
    }
    connection.sync();
    connection.stream.uncork();
  };

  #send(connection: DriverConnection, { name, text, values }: BatchStatement, describes: boolean): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    const isPrepared = parsedStatements[name] !== undefined || submittedNamedStatements[name] !== undefined;
    if (name === '' || !isPrepared) connection.parse({ name, text, types: [] }, true);
    if (name !== '' && !isPrepared) submittedNamedStatements[name] = text;
    const texts = values.map((value) => (value === null ? null : String(value)));
    connection.bind({ statement: name, values: texts }, true);
    if (describes) connection.describe({ type: 'P' }, true);
    connection.execute({}, true);
  }

  handleMessage(type: number, bytes: Buffer, start: number): boolean {
    const current = this.#results.length - 1;
    switch (type) {
      case parseComplete:
        this.#notePrepared();
        return true;
      case bindComplete:
        return true;
      case noData:
        this.#noteColumns([]);
        return true;
      case rowDescription:
        this.#noteColumns(readColumns(bytes, start));
        return true;
      case dataRow:
        this.#results[current]?.push(readRow(this.#columns[current] ?? [], bytes, start));
        return true;
      case commandComplete:
        if (this.#results.length < this.#statements.length) this.#results.push([]);
        return true;
      default:
        return false; // an error, the end or something that has nothing to do with the batch
    }
  }

  get #current(): BatchStatement | undefined {
    return this.#statements[this.#results.length - 1];
  }

  /** The server has prepared the current statement. */
  #notePrepared(): void {
    const { name, text } = this.#current ?? {};
    if (this.#connection === undefined || !name) return;
    this.#connection.parsedStatements[name] = text;
    delete this.#connection.submittedNamedStatements[name];
  }

  /** The server has described the current statement. */
  #noteColumns(columns: readonly Column[]): void {
    this.#columns[this.#results.length - 1] = columns;
    const { name } = this.#current ?? {};
    if (this.#connection !== undefined && name) knownColumns(this.#connection).set(name, columns);
  }

  handleError(error: unknown, { submittedNamedStatements }: DriverConnection): void {
    // after an error the server skips the remaining statements
    for (const { name } of this.#statements) delete submittedNamedStatements[name];
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }
}

/**
 * The columns of the statements that each connection has prepared. A statement keeps them: the
 * server rejects it once a change of the schema would give it others.
 */
const columnsOf = new WeakMap<pg.Connection, Map<string, readonly Column[]>>();

function knownColumns(connection: pg.Connection): Map<string, readonly Column[]> {
  const known = columnsOf.get(connection) ?? new Map<string, readonly Column[]>();
  columnsOf.set(connection, known);
  return known;
}

/** Bytes of a column's description between its name and its type, and from its type on. */
const beforeType = 6;
const fromType = 12;

function readColumns(bytes: Buffer, start: number): readonly Column[] {
  const columns: Column[] = [];
  let at = start + 2;
  for (let count = bytes.readInt16BE(start); count > 0; count -= 1) {
    const nameEnd = bytes.indexOf(0, at);
    const name = bytes.toString('utf8', at, nameEnd);
    at = nameEnd + 1 + beforeType;
    columns.push({ name, read: valueReader(name, bytes.readUInt32BE(at)) });
    at += fromType;
  }
  return columns;
}

/** Returns the function that reads a value of a column, which the server sends as text. */
function valueReader(name: string, type: number): Column['read'] {
  // bytes are no `SqlValue`; only `utf8Of` reads them
  if (name === utf8Column) return (bytes, start, end) => bytes.subarray(start, end) as unknown as string;
  const parse = parserOf(type);
  return (bytes, start, end) => parse(bytes.toString('utf8', start, end));
}

function readRow(columns: readonly Column[], bytes: Buffer, start: number): Row {
  const row: Record<string, Value> = {};
  let at = start + 2;
  for (const { name, read } of columns) {
    const length = bytes.readInt32BE(at);
    at += 4;
    row[name] = length < 0 ? null : read(bytes, at, at + length);
    at += Math.max(0, length);
  }
  return row;
}

/**
 * Parses bigint as a number: times in seconds and counts stay far below 2^53. The parsers of all
 * types that our statements select cannot fail.
 */
export function parserOf(type: number): (text: string) => Value {
  return type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, 'text');
}
