import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/**
 * Runs a statement, or several that are sent as one, in a span of the request's trace if that is
 * recorded. Values are never recorded, nor messages of errors, which may quote them.
 */
export function inStatement<T>(system: 'sqlite' | 'postgresql', sql: string | readonly string[], work: () => T): T {
  if (trace.getActiveSpan()?.isRecording() !== true) return work();
  const texts = typeof sql === 'string' ? [sql] : sql;
  // follows the semantic conventions of OpenTelemetry for databases, 1.45
  const attributes = { 'db.system.name': system, 'db.query.text': texts.join('; ') };
  const span = trace.getTracer('subreport').startSpan(summarize(texts), { kind: SpanKind.CLIENT, attributes });
  const fail = (error: unknown): void => {
    const { code, name } = error as { code?: unknown; name?: unknown };
    const type = String(code ?? name ?? 'Error');
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type).end();
  };
  try {
    const result = work();
    if (result instanceof Promise) result.then(() => span.end(), fail);
    else span.end();
    return result;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** The first table that a statement names. */
const tablePattern = /\b(?:into\s+([a-z_]+)|(?:from|update|join)\s+([a-z_]+)\b(?!\s*\())/i;

/** The verb and the table of a statement; of several, the first with a table, not their BEGIN. */
function summarize(texts: readonly string[]): string {
  const main = texts.find((text) => tablePattern.test(text)) ?? texts[0] ?? '';
  const verb = /\w+/.exec(main)?.[0].toUpperCase() ?? 'UNKNOWN';
  const [, target, source = ''] = tablePattern.exec(main) ?? [];
  return `${texts.length > 1 ? 'BATCH ' : ''}${verb} ${target ?? source}`.trim();
}
