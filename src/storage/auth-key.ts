import { directoryStatement, type Store } from './store.ts';

/** What a key is for: signing access tokens, or protecting refresh tokens. */
export type KeyPurpose = 'access' | 'refresh';

/** A key of the service as it is kept: a private or secret JWK (RFC 7517) as text. */
export interface AuthKeyRow {
  readonly purpose: KeyPurpose;
  /** 1 is the first key of its purpose. */
  readonly sequence: number;
  readonly jwk: string;
  /** UTC epoch seconds. */
  readonly createdAt: number;
}

/** Keeps a key unless another process has kept one under the same number just before; either way the number is taken afterwards. */
export async function insertAuthKey(store: Store, key: AuthKeyRow): Promise<void> {
  await store.writeDirectory([
    directoryStatement(
      'insert into auth_key (purpose, sequence, jwk, created_at) values ($1, $2, $3, $4) on conflict (purpose, sequence) do nothing',
      [key.purpose, key.sequence, key.jwk, key.createdAt],
    ),
  ]);
}

/** All keys of a purpose, newest first. */
export async function listAuthKeys(store: Store, purpose: KeyPurpose): Promise<readonly AuthKeyRow[]> {
  const rows = await store.readDirectory(
    'select purpose, sequence, jwk, created_at from auth_key where purpose = $1 order by sequence desc',
    [purpose],
  );
  return rows.map((row) => ({
    purpose,
    sequence: Number(row.sequence),
    jwk: String(row.jwk),
    createdAt: Number(row.created_at),
  }));
}
