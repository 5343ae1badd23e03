import { before } from '../deadline.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { importLockOf } from './advisory-locks.ts';
import { begin } from './change-sql.ts';
import { close, closeAtOnce, createDedicatedClient } from './connect.ts';
import { toStorageError, withAddress } from './error.ts';
import { noTimeLimit } from './session.ts';

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
