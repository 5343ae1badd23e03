import { createHash } from 'node:crypto';
import { before } from '../deadline.ts';
import type { ImportLock, TenantId } from '../store.ts';
import { begin } from './change-sql.ts';
import { close, closeAtOnce, createDedicatedClient } from './connect.ts';
import { toStorageError, withAddress } from './error.ts';
import { noTimeLimit } from './session.ts';

/**
 * Takes the right to import into a tenant: an advisory lock of a transaction that stays open on a
 * connection of its own, which PostgreSQL lets go when the connection ends. A lock of the session
 * would stay behind in a pooler. The transaction reads nothing, so that it keeps no old rows from
 * vacuum. On a distributed engine it holds among those who connect to the same coordinator.
 * `undefined` when it is taken.
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
    // a host that is gone loses the lock after a minute
    options: '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3',
    onLost: () => {
      held = false;
    },
  });
  const take = async (): Promise<void> => {
    await client.connect();
    await client.query(begin);
    await client.query(noTimeLimit);
    const { rows } = await client.query('select pg_try_advisory_xact_lock($1) as taken', [lockKey(tenant)]);
    held = rows[0]?.taken === true;
  };
  await before(deadline, take()).catch((error: unknown) => {
    closeAtOnce(client);
    throw withAddress(toStorageError(error), url);
  });
  const release = async (): Promise<void> => {
    const soon = performance.now() + 1_000;
    // the lock is free when this resolves; else it is gone with the connection
    await before(soon, client.query('commit')).catch(() => undefined);
    await close(client);
  };
  if (!held) await release();
  return held ? { isHeld: () => held, release } : undefined;
}

/**
 * A number that stands for the import of a tenant; the lock of migrations is one of another kind,
 * far smaller ones.
 */
const lockKey = (tenant: TenantId): string =>
  createHash('sha256').update(`subreport import ${tenant}`).digest().readBigInt64BE().toString();
