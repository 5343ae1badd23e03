import { directoryStatement, type Store } from '../store.ts';

/**
 * Replaces the hash of a client's secret with another hash of the same secret; has no effect if the
 * secret was replaced meanwhile.
 */
export async function rewriteSecretHash(store: Store, clientId: string, hash: string, newHash: string): Promise<void> {
  await store.writeDirectory([
    directoryStatement('update client_secret set hash = $3 where client_id = $1 and hash = $2', [
      clientId,
      hash,
      newHash,
    ]),
  ]);
}
