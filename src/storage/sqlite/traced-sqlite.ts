import type { TracedDatabase } from '../../tracing/statement-span.ts';

/** The embedded store, as spans describe it. */
export const tracedSqlite: TracedDatabase = { system: 'sqlite', namespace: 'subreport.db' };
