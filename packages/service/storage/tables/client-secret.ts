import { type Directory, directoryStatement, type Store } from '../store.ts';
import { type ClientRow, clientColumns, toClient } from './client.ts';
import { writeOne } from './write-one.ts';

/**
 * A client, even if disabled, with the hashes of its valid secrets, newest first; `undefined` if
 * there is none with this id.
 */
export async function findClientWithSecrets(
  store: Store,
  clientId: string,
  nowSeconds: number,
): Promise<{ readonly client: ClientRow; readonly hashes: readonly string[] } | undefined> {
  const rows = await store.readDirectory(
    `select ${clientColumns}, s.hash
     from client as c left join client_secret as s on s.client_id = c.client_id and (s.expires_at is null or s.expires_at > $2)
     where c.client_id = $1 order by s.created_at desc` as const,
    [clientId, nowSeconds],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const hashes = rows.flatMap(({ hash }) => (hash === null ? [] : [String(hash)]));
  return { client: toClient(first), hashes };
}

/**
 * Adds a new secret to a client. Its other secrets expire at `oldExpiresAt` (UTC epoch seconds) at
 * the latest, and expired ones are removed.
 */
export async function replaceSecret(
  store: Directory,
  clientId: string,
  secretHash: string,
  nowSeconds: number,
  oldExpiresAt: number,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement('delete from client_secret where client_id = $1 and expires_at <= $2', [clientId, nowSeconds]),
    directoryStatement(
      'update client_secret set expires_at = $2 where client_id = $1 and (expires_at is null or expires_at > $2)',
      [clientId, oldExpiresAt],
    ),
    directoryStatement('insert into client_secret (client_id, hash, created_at) values ($1, $2, $3)', [
      clientId,
      secretHash,
      nowSeconds,
    ]),
  ]);
}

/**
 * Replaces the hash of a client's secret with another hash of the same secret; has no effect if the
 * secret was replaced meanwhile.
 */
export async function rewriteSecretHash(store: Store, clientId: string, hash: string, newHash: string): Promise<void> {
  const rewrite = 'update client_secret set hash = $3 where client_id = $1 and hash = $2';
  await writeOne(store, rewrite, [clientId, hash, newHash]);
}

/**
 * When a secret of a client was created and when it expires, in UTC epoch seconds; `null` if it
 * never expires.
 */
export interface SecretLifetime {
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** The valid secrets of a client, newest first. */
export async function listSecretLifetimes(
  store: Directory,
  clientId: string,
  nowSeconds: number,
): Promise<readonly SecretLifetime[]> {
  const rows = await store.readDirectory(
    `select created_at, expires_at from client_secret where client_id = $1 and (expires_at is null or expires_at > $2)
     order by created_at desc, hash`,
    [clientId, nowSeconds],
  );
  return rows.map(({ created_at, expires_at }) => ({
    createdAt: Number(created_at),
    expiresAt: expires_at === null ? null : Number(expires_at),
  }));
}
