import { SpanKind, trace } from '@opentelemetry/api';
import { endFailed, inDescribedSpan, type SpanDescription, startSpan } from './span.ts';

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
export const inStatement = <T>(database: TracedDatabase, sql: Statements, work: () => T): T =>
  inDescribedSpan(() => describeStatement(database, sql), work);

/** Records one span for a stream of rows, from its first row to its end. */
export const streamStatement = <T>(database: TracedDatabase, sql: string, rows: AsyncIterable<T>): AsyncIterable<T> =>
  trace.getActiveSpan()?.isRecording() === true ? recordRows(database, sql, rows) : rows;

async function* recordRows<T>(database: TracedDatabase, sql: string, rows: AsyncIterable<T>): AsyncGenerator<T> {
  const span = startSpan(() => describeStatement(database, sql));
  try {
    yield* rows;
  } catch (error) {
    if (span !== undefined) endFailed(span, error);
    throw error;
  } finally {
    if (span?.isRecording() === true) span.end();
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
  const attributes = {
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
  return { name: summary, kind: SpanKind.CLIENT, attributes };
}
