import { type Directory, directoryStatement } from '../store.ts';
import type { AuthKeyRow } from './auth-key.ts';
import { writeOne } from './write-one.ts';

/**
 * Stores a key and returns `true`, or `false` if another process has stored one with the same
 * sequence.
 */
export async function insertAuthKey(store: Directory, key: AuthKeyRow): Promise<boolean> {
  const { purpose, sequence, kid, alg, jwk, createdAt, activatesAt } = key;
  const inserted = await writeOne(
    store,
    `insert into auth_key (purpose, sequence, kid, alg, jwk, created_at, activates_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (purpose, sequence) do nothing returning sequence`,
    [purpose, sequence, kid, alg, jwk, createdAt, activatesAt],
    { announce: true },
  );
  return inserted.length === 1;
}

/** Replaces a key's stored JWK with the same key under another encryption. */
export async function rewriteAuthKey(store: Directory, { purpose, sequence, jwk }: AuthKeyRow): Promise<void> {
  await writeOne(store, 'update auth_key set jwk = $3 where purpose = $1 and sequence = $2', [purpose, sequence, jwk]);
}

/** Removes keys that are no longer needed or no longer trusted. */
export async function deleteAuthKeys(
  store: Directory,
  keys: readonly Pick<AuthKeyRow, 'purpose' | 'sequence'>[],
): Promise<void> {
  await store.writeDirectory(
    keys.map(({ purpose, sequence }) =>
      directoryStatement('delete from auth_key where purpose = $1 and sequence = $2', [purpose, sequence]),
    ),
    { announce: true },
  );
}
