import { type EndSpan, type SpanAttributes, type SpanDescription, spanRecorder } from './span.ts';

/** The database that runs a statement. */
export interface TracedDatabase {
  readonly system: 'sqlite' | 'postgresql';
  /** The name of the database. */
  readonly namespace?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

type Statements = string | readonly string[];

/** Runs a statement, or several that are sent as one, in a span. Values are never recorded. */
export function inStatement<T>(database: TracedDatabase, sql: Statements, work: () => T): T {
  const recorder = spanRecorder();
  return recorder === undefined ? work() : recorder.inSpan(() => describeStatement(database, sql), work);
}

/** Records one span for a stream of rows, from its first row to its end. */
export function streamStatement<T>(database: TracedDatabase, sql: string, rows: AsyncIterable<T>): AsyncIterable<T> {
  const recorder = spanRecorder();
  if (recorder === undefined) return rows;
  return endAfter(rows, () => recorder.start(() => describeStatement(database, sql)));
}

async function* endAfter<T>(rows: AsyncIterable<T>, start: () => EndSpan): AsyncGenerator<T> {
  const end = start();
  try {
    yield* rows;
  } catch (error) {
    end(error);
    throw error;
  } finally {
    end();
  }
}

/** The verb of a statement, and the first table that it names. */
const operationPattern = /^\s*(\w+)/;
const tablePattern = /\b(?:into\s+([a-z_]+)|(?:from|update|join)\s+([a-z_]+)\b(?!\s*\())/i;

/** Follows the semantic conventions of OpenTelemetry for databases, 1.45. */
function describeStatement(database: TracedDatabase, sql: Statements): SpanDescription {
  const texts = typeof sql === 'string' ? [sql] : sql;
  // a batch is named after its first statement with a table, not after its BEGIN
  const main = texts.find((text) => tablePattern.test(text)) ?? texts[0] ?? '';
  const operation = operationPattern.exec(main)?.[1]?.toUpperCase() ?? 'UNKNOWN';
  const [, target, source] = tablePattern.exec(main) ?? [];
  const table = target ?? source;
  const name = texts.length > 1 ? `BATCH ${operation}` : operation;
  const summary = table === undefined ? name : `${name} ${table}`;
  const attributes: SpanAttributes = {
    'db.system.name': database.system,
    'db.namespace': database.namespace,
    'db.query.text': texts.join('; '),
    'db.query.summary': summary,
    'db.operation.name': name,
    'db.collection.name': table,
    'db.operation.batch.size': texts.length > 1 ? texts.length : undefined,
    'server.address': database.host,
    'server.port': database.port,
  };
  return { name: summary, kind: 'client', attributes };
}
