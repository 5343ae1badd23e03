import { randomBytes } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { insertAuthKey, type KeyPurpose, listAuthKeys } from '../storage/auth-key.ts';
import type { Store } from '../storage/store.ts';

/** The algorithm that access tokens are signed with (RFC 7518 §3.4). */
export const signingAlgorithm = 'ES256';

/** A key pair that signs access tokens. */
export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** The public half for the key set, with `kid`, `alg` and `use` (RFC 7517 §4). */
  readonly publicJwk: JWK;
}

/** The keys of the service, shared by all its processes through the store. */
export interface AuthKeys {
  /** Newest first; the first one signs. */
  readonly signing: readonly [SigningKey, ...SigningKey[]];
  /** Secrets that protect refresh tokens, newest first; the first one is used for new tokens. */
  readonly refresh: readonly [Buffer, ...Buffer[]];
}

/** Reads the keys from the store and makes the first ones when there are none; processes that start at once agree on them. */
export async function loadAuthKeys(store: Store, nowSeconds: number): Promise<AuthKeys> {
  const signing = await Promise.all((await readOrCreate(store, 'access', nowSeconds, newSigningJwk)).map(toSigningKey));
  const refresh = (await readOrCreate(store, 'refresh', nowSeconds, newRefreshJwk)).map(toSecret);
  return { signing: atLeastOne(signing), refresh: atLeastOne(refresh) };
}

async function readOrCreate(
  store: Store,
  purpose: KeyPurpose,
  nowSeconds: number,
  create: () => Promise<JWK>,
): Promise<JWK[]> {
  let rows = await listAuthKeys(store, purpose);
  if (rows.length === 0) {
    const jwk = await create();
    const kid = await calculateJwkThumbprint(jwk);
    const alg = purpose === 'access' ? signingAlgorithm : 'HS256';
    const made = { purpose, sequence: 1, kid, alg, jwk: JSON.stringify(jwk), createdAt: nowSeconds, activatesAt: 0 };
    await insertAuthKey(store, made);
    rows = await listAuthKeys(store, purpose);
  }
  return rows.map(({ jwk }) => JSON.parse(jwk) as JWK);
}

async function newSigningJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  return exportJWK(privateKey);
}

async function newRefreshJwk(): Promise<JWK> {
  return { kty: 'oct', k: randomBytes(32).toString('base64url') };
}

async function toSigningKey(jwk: JWK): Promise<SigningKey> {
  const { d: _private, ...publicPart } = jwk;
  const kid = await calculateJwkThumbprint(publicPart);
  const publicJwk: JWK = { ...publicPart, kid, alg: signingAlgorithm, use: 'sig' };
  const privateKey = (await importJWK(jwk, signingAlgorithm)) as CryptoKey;
  const publicKey = (await importJWK(publicJwk, signingAlgorithm)) as CryptoKey;
  return { kid, privateKey, publicKey, publicJwk };
}

const toSecret = (jwk: JWK): Buffer => Buffer.from(jwk.k ?? '', 'base64url');

function atLeastOne<T>(keys: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = keys;
  if (first === undefined) throw new TypeError('Cannot load keys: the store must have one after it was inserted');
  return [first, ...rest];
}
