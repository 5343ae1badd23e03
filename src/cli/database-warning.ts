/**
 * Returns a warning if the database is reached over a network without verified TLS, otherwise
 * `undefined`.
 */
export function databaseWarning(databaseUrl: string | undefined): string | undefined {
  if (databaseUrl === undefined) return undefined;
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const isHere = host === '' || host.startsWith('/') || host === 'localhost' || host === '[::1]' || /^127\./.test(host);
  if (isHere || searchParams.get('sslmode') === 'verify-full') return undefined;
  return `DATABASE_URL refers to another machine without sslmode=verify-full: anyone on the network path can read and change records and the database password; add it, and sslrootcert for a private certificate authority (docs/operating.md, TLS to PostgreSQL): current host is '${host}'`;
}
