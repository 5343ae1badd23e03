import { hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { KeyError } from '../error.ts';

/** A JWK that was read from the store. */
export interface OpenedKey {
  readonly jwk: string;
  /** `clear`: unencrypted; `previous`: encrypted under the previous secret. */
  readonly storedAs: 'clear' | 'previous' | 'current';
}

/** Encrypts private keys for the store, and decrypts them. */
export interface KeyCipher {
  /** Whether a secret to encrypt keys is configured. */
  readonly encrypts: boolean;
  /** Returns a JWK as it is stored: encrypted if there is a secret, otherwise as JSON. */
  seal(jwk: string): Promise<string>;
  /**
   * Returns the JWK of a stored value, and how it was stored. Throws `KeyError` if it was encrypted
   * under another secret.
   */
  open(stored: string): Promise<OpenedKey>;
}

/**
 * Creates the cipher of the service's private keys, with the operator's secret. Keys that are
 * stored unencrypted or under the previous secret are still read.
 */
export function createKeyCipher(secret: string | undefined, secretBefore: string | undefined): KeyCipher {
  const cipherOf = (each: string | undefined) => (each === undefined ? undefined : createTextCipher(each));
  const current = cipherOf(secret);
  const before = cipherOf(secretBefore);
  return {
    encrypts: current !== undefined,
    seal: async (jwk) => (current === undefined ? jwk : current.encrypt(jwk)),
    async open(stored) {
      if (stored.startsWith('{')) return { jwk: stored, storedAs: 'clear' };
      for (const cipher of [current, before]) {
        const jwk = await cipher?.decrypt(stored);
        if (jwk !== undefined) return { jwk, storedAs: cipher === current ? 'current' : 'previous' };
      }
      const given = current === undefined ? 'it is not set' : 'it is a different one';
      throw new KeyError(
        'UNREADABLE',
        `Cannot read the keys of the service: KEY_ENCRYPTION_SECRET must be the secret that they were encrypted with: ${given}; to replace it, set the old one as KEY_ENCRYPTION_SECRET_BEFORE; if it is lost, delete the keys (docs/operators/keys.md)`,
      );
    },
  };
}

/**
 * Creates a cipher of text: JWE with a direct 256-bit key and AES-GCM (RFC 7516, RFC 7518 §5.3).
 * The key is derived from a secret (HKDF, RFC 5869); the secret is random, so a
 * slow derivation would add nothing. `decrypt` returns `undefined` for text that was changed or
 * encrypted with another secret.
 */
function createTextCipher(secret: string) {
  const key = new Uint8Array(hkdfSync('sha256', secret, 'subreport', 'auth_key', 32));
  const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] };
  return {
    encrypt: (text: string): Promise<string> =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(key),
    decrypt: (encrypted: string): Promise<string | undefined> =>
      compactDecrypt(encrypted, key, algorithms).then(
        ({ plaintext }) => new TextDecoder().decode(plaintext),
        () => undefined, // encrypted with another secret, or changed: the caller says so
      ),
  };
}
