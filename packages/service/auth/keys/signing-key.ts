import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { SigningAlgorithm } from '../../../contract/oauth/grant.ts';

export interface SigningKey {
  /** Thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: CryptoKey;
  /** The same key for functions of Node. */
  readonly keyObject: KeyObject;
  /** The header of the access tokens that it signs (RFC 9068 §2.1), and how a token begins. */
  readonly header: { readonly alg: SigningAlgorithm; readonly kid: string; readonly typ: 'at+jwt' };
  readonly encodedHeader: string;
  readonly publicKey: CryptoKey;
  /** The public half for the key set, with `kid`, `alg` and `use` (RFC 7517 §4). */
  readonly publicJwk: JWK;
}

/**
 * Members of a private JWK that the key set must not contain (RFC 7518 §6.2.2, §6.3.2; RFC 8037
 * §2).
 */
const privateMembers: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']);

/**
 * Bits of RSA keys: 128 bits of security, like ES256 and EdDSA (NIST SP 800-57 part 1, table 2).
 */
const rsaBits = 3_072;

/** Whether a key is as long as new ones are. */
export const isStrongEnough = ({ kty, n = '' }: JWK): boolean =>
  kty !== 'RSA' || Buffer.from(n, 'base64url').length * 8 >= rsaBits;

export async function newSigningJwk(alg: SigningAlgorithm): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: rsaBits });
  return exportJWK(privateKey);
}

export async function toSigningKey(jwk: JWK, alg: SigningAlgorithm): Promise<SigningKey> {
  const publicPart = Object.fromEntries(Object.entries(jwk).filter(([name]) => !privateMembers.has(name))) as JWK;
  const kid = await calculateJwkThumbprint(publicPart);
  const publicJwk: JWK = { ...publicPart, kid, alg, use: 'sig' };
  const privateKey = (await importJWK(jwk, alg)) as CryptoKey;
  const publicKey = (await importJWK(publicJwk, alg)) as CryptoKey;
  const header = { alg, kid, typ: 'at+jwt' } as const;
  return {
    kid,
    alg,
    privateKey,
    keyObject: createPrivateKey({ key: jwk, format: 'jwk' }),
    header,
    encodedHeader: Buffer.from(JSON.stringify(header)).toString('base64url'),
    publicKey,
    publicJwk,
  };
}
