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
 * Creates the cipher of the service's private keys: JWE with a direct 256-bit key and AES-GCM (RFC
 * 7516, RFC 7518 §5.3); the key is derived from the operator's secret (HKDF, RFC 5869). Keys that
 * are stored unencrypted or under the previous secret are still read.
 */
export function createKeyCipher(secret: string | undefined, secretBefore: string | undefined): KeyCipher {
  const current = secret === undefined ? undefined : deriveKey(secret);
  const before = secretBefore === undefined ? undefined : deriveKey(secretBefore);
  return {
    encrypts: current !== undefined,
    async seal(jwk) {
      if (current === undefined) return jwk;
      return new CompactEncrypt(new TextEncoder().encode(jwk))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(current);
    },
    async open(stored) {
      if (stored.startsWith('{')) return { jwk: stored, storedAs: 'clear' };
      for (const key of [current, before]) {
        const jwk = key === undefined ? undefined : await decrypt(stored, key);
        if (jwk !== undefined) return { jwk, storedAs: key === current ? 'current' : 'previous' };
      }
      const given = current === undefined ? 'it is not set' : 'it is a different one';
      throw new KeyError(
        'UNREADABLE',
        `Cannot read the keys of the service: KEY_ENCRYPTION_SECRET must be the secret that they were encrypted with: ${given}; to replace it, set the old one as KEY_ENCRYPTION_SECRET_BEFORE`,
      );
    },
  };
}

/** Derives a key of 256 bits. The secret is random, so a slow derivation would add nothing. */
function deriveKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'subreport', 'auth_key', 32));
}

async function decrypt(stored: string, key: Uint8Array): Promise<string | undefined> {
  try {
    const { plaintext } = await compactDecrypt(stored, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    return new TextDecoder().decode(plaintext);
  } catch {
    return undefined; // sealed with another secret, or changed: the caller says so
  }
}
