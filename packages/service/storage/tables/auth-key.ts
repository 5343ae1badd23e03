import type { Directory } from '../store.ts';

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
