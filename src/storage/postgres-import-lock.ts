import { createHash } from 'node:crypto';
import pg from 'pg';
import type { ImportLock } from './import-lock.ts';
import { toStorageError, withAddress } from './postgres-error.ts';
import type { TenantId } from './store.ts';

/**
 * Takes the right to import into a tenant: an advisory lock of a session of its own, which PostgreSQL lets go when the session ends. On a distributed engine
 * it holds among those who connect to the same coordinator. `undefined` when it is taken.
 */
export async function lockImportOnPostgres(url: string, tenant: TenantId): Promise<ImportLock | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 12_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    options: '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3', // a host that is gone loses the lock after a minute
    application_name: 'subreport-import-lock',
  });
  let held = false;
  client.on('error', () => {
    held = false;
  });
  client.on('end', () => {
    held = false;
  });
  try {
    await client.connect();
    const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [lockKey(tenant)]);
    held = rows[0]?.taken === true;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw withAddress(toStorageError(error), url);
  }
  if (!held) await client.end();
  return held ? { isHeld: () => held, release: () => client.end() } : undefined;
}

/** A number that stands for the import of a tenant; the lock of migrations is one of another kind, far smaller ones. */
const lockKey = (tenant: TenantId): string =>
  createHash('sha256').update(`subreport import ${tenant}`).digest().readBigInt64BE().toString();
