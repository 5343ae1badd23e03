import type { TracedDatabase } from '../../tracing/statement-span.ts';

const portDefault = 5_432;

/** Describes the database of a connection URL to spans, without user and password. */
export function describeDatabase(url: string): TracedDatabase {
  const { hostname, port, pathname } = new URL(url);
  return {
    system: 'postgresql',
    namespace: decodeURIComponent(pathname.slice(1)),
    host: hostname,
    port: port === '' ? portDefault : Number(port),
  };
}
