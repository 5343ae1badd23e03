import pg from 'pg';
import type { Row } from '../store.ts';

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
 * stays open: close the connection. Run one batch at a time per connection: if this batch fails
 * before a statement is prepared, a following one would wrongly assume that it is.
 */
export function runBatch(
  client: pg.ClientBase,
  statements: readonly BatchStatement[],
): Promise<readonly (readonly Row[])[]> {
  return new Promise((resolve, reject) => {
    client.query(new Batch(statements, (error, results = []) => (error ? reject(error) : resolve(results))));
  });
}

/**
 * Internals of the driver's connection: named statements that the server has prepared, and those
 * sent but not yet confirmed.
 */
interface Connection extends pg.Connection {
  readonly parsedStatements: Partial<Record<string, string>>;
  readonly submittedNamedStatements: Partial<Record<string, string>>;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => Row[string];
}

/**
 * A batch as the driver sees it: it sends the statements and receives the server's messages. It
 * extends `Query` because the driver accepts nothing else on a pipelined connection.
 */
class Batch extends pg.Query {
  /** The driver calls this at the end, and wraps its own timeout around it. */
  callback: (error: unknown, results?: readonly (readonly Row[])[]) => void;
  /**
   * Name of the statement that the server is executing; the driver records it as prepared when the
   * server confirms it.
   */
  name = '';
  text = '';
  readonly #statements: readonly BatchStatement[];
  readonly #results: Row[][] = [[]];
  #columns: readonly Column[] = [];

  constructor(statements: readonly BatchStatement[], callback: Batch['callback']) {
    super('');
    this.#statements = statements;
    this.callback = callback;
    this.#goTo(statements[0]);
  }

  override submit = (connection: pg.Connection): void => {
    const { stream, parsedStatements, submittedNamedStatements } = connection as Connection;
    stream.cork();
    try {
      for (const { name, text, values } of this.#statements) {
        if (name === '') connection.parse({ name, text, types: [] }, true);
        else if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
          connection.parse({ name, text, types: [] }, true);
          submittedNamedStatements[name] = text;
        }
        connection.bind(
          { statement: name, values: values.map((value) => (value === null ? null : String(value))) },
          true,
        );
        connection.describe({ type: 'P' }, true);
        connection.execute(null, true);
      }
      connection.sync();
    } finally {
      stream.uncork();
    }
  };

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, Row[string]> = {};
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#results.at(-1)?.push(row);
  }

  handleCommandComplete(): void {
    const next = this.#statements[this.#results.length];
    if (next !== undefined) this.#results.push([]);
    this.#goTo(next);
  }

  #goTo({ name, text } = { name: '', text: '' }): void {
    this.name = name;
    this.text = text;
  }

  handleError(error: unknown, { submittedNamedStatements }: Connection): void {
    // after an error the server skips the remaining statements
    for (const { name } of this.#statements) delete submittedNamedStatements[name];
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }
}

/**
 * Parses bigint as a number: times in seconds and counts stay far below 2^53. The parsers of all
 * types that our statements select cannot fail.
 */
export function parserOf(type: number): Column['parse'] {
  return type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, 'text');
}
