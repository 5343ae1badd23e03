import { type Directory, directoryStatement } from '../store.ts';

/** What a key is for: signing access tokens, or protecting refresh tokens. */
export type KeyPurpose = 'access' | 'refresh';

/** A key of the service as stored (RFC 7517). */
export interface AuthKeyRow {
  readonly purpose: KeyPurpose;
  /** Starts at 1 for each purpose. */
  readonly sequence: number;
  /** Thumbprint of the key (RFC 7638). */
  readonly kid: string;
  readonly alg: string;
  /** The private or secret JWK, encrypted or as JSON. */
  readonly jwk: string;
  /** UTC epoch seconds. */
  readonly createdAt: number;
  /** When it becomes the key for new tokens, in UTC epoch seconds. */
  readonly activatesAt: number;
}

/**
 * Stores a key and returns `true`, or `false` if another process has stored one with the same
 * sequence.
 */
export async function insertAuthKey(store: Directory, key: AuthKeyRow): Promise<boolean> {
  const { purpose, sequence, kid, alg, jwk, createdAt, activatesAt } = key;
  const insert = directoryStatement(
    `insert into auth_key (purpose, sequence, kid, alg, jwk, created_at, activates_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (purpose, sequence) do nothing returning sequence`,
    [purpose, sequence, kid, alg, jwk, createdAt, activatesAt],
  );
  const [rows] = await store.writeDirectory([insert], { announce: true });
  return rows?.length === 1;
}

/** Replaces a key's stored JWK with the same key under another encryption. */
export async function rewriteAuthKey(store: Directory, { purpose, sequence, jwk }: AuthKeyRow): Promise<void> {
  await store.writeDirectory([
    directoryStatement('update auth_key set jwk = $3 where purpose = $1 and sequence = $2', [purpose, sequence, jwk]),
  ]);
}

/** All keys of a purpose, newest first. */
export async function listAuthKeys(store: Directory, purpose: KeyPurpose): Promise<readonly AuthKeyRow[]> {
  const rows = await store.readDirectory(
    `select purpose, sequence, kid, alg, jwk, created_at, activates_at from auth_key where purpose = $1 order by sequence desc`,
    [purpose],
  );
  return rows.map((row) => ({
    purpose,
    sequence: Number(row.sequence),
    kid: String(row.kid),
    alg: String(row.alg),
    jwk: String(row.jwk),
    createdAt: Number(row.created_at),
    activatesAt: Number(row.activates_at),
  }));
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
