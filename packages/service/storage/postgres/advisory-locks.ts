import { createHash } from 'node:crypto';
import { before } from '../deadline.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { begin } from './change-sql.ts';
import { close, closeAtOnce, createDedicatedClient } from './connect.ts';
import { toStorageError, withAddress } from './error.ts';
import { noTimeLimit } from './session.ts';

/**
 * The numbers of all advisory locks of a database; a test finds those in the code and in the
 * migrations. Two uses of one number would exclude each other.
 */
export const advisoryLocks = {
  /** One process migrates at a time. */
  migration: 7_236_119_410,
  /** Entries of the audit log are committed in the order of their ids (`audit_entry_in_order`). */
  auditOrder: 7_236_119_411,
} as const;

/**
 * The lock of the imports into a tenant: a 64-bit hash; a collision with another lock is
 * practically impossible.
 */
export const importLockOf = (tenant: TenantId): string =>
  createHash('sha256').update(`subreport import ${tenant}`).digest().readBigInt64BE().toString();

/**
 * Locks the imports into a tenant: an advisory lock of a transaction that stays open on a dedicated
 * connection, which PostgreSQL releases when the connection closes. A session lock would remain on
 * a pooler's connection. The transaction reads nothing, so it does not hold back vacuum. On a
 * distributed engine it excludes only processes that use the same coordinator. Returns `undefined`
 * if another process holds it.
 */
export async function lockImportOnPostgres(
  url: string,
  tenant: TenantId,
  deadline: number,
): Promise<ImportLock | undefined> {
  let held = false;
  const client = createDedicatedClient(url, {
    name: 'subreport-import-lock',
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    // a lost host loses the lock after a minute
    options: '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3',
    onLost: () => {
      held = false;
    },
  });
  const take = async (): Promise<void> => {
    await client.connect();
    await client.query(begin);
    await client.query(noTimeLimit);
    const { rows } = await client.query('select pg_try_advisory_xact_lock($1) as taken', [importLockOf(tenant)]);
    held = rows[0]?.taken === true;
  };
  await before(deadline, take()).catch((error: unknown) => {
    closeAtOnce(client);
    throw withAddress(toStorageError(error), url);
  });
  const release = async (): Promise<void> => {
    const soon = performance.now() + 1_000;
    // if this resolves, the lock is free; otherwise closing the connection releases it
    await before(soon, client.query('commit')).catch(() => undefined);
    await close(client);
  };
  if (!held) await release();
  return held ? { isHeld: () => held, release } : undefined;
}
