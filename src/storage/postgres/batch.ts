import pg from 'pg';
import type { Row } from '../store.ts';

/**
 * A statement that is prepared once on each connection under its name, each time without one, and
 * what it binds.
 */
export interface BatchStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/**
 * Runs statements one after the other and gives the rows of each. They go to the server in one
 * write and its answers come in one: the protocol's Sync, behind which the server writes what it
 * has to say, stands behind the last of them alone (PostgreSQL, "Extended Query"), where the driver
 * puts one behind each. Once one has failed, the server leaves out all that follow, and a
 * transaction that began with the batch is open still: close the connection. One batch at a time:
 * what the next one takes for prepared would not be, if this one failed before it came to it.
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
 * A connection as the driver has it, with the statements by name that the server has prepared, and
 * those on their way to it.
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
 * What the driver sends and what it hands the server's messages to. A `Query`, as it lets no others
 * share a connection that several may be under way on.
 */
class Batch extends pg.Query {
  /** What the driver calls at the end, with its own bound in time around it. */
  callback: (error: unknown, results?: readonly (readonly Row[])[]) => void;
  /**
   * Of the statement that the server is at: the driver notes it as prepared when the server says
   * so.
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
    // the server does not read what stands behind the one that failed
    for (const { name } of this.#statements) delete submittedNamedStatements[name];
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }
}

/**
 * bigint as a number: times in seconds and counts stay far below 2^53. No parser of a type that our
 * statements select can fail.
 */
export function parserOf(type: number): Column['parse'] {
  return type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, 'text');
}
