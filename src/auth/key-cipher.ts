import { hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { KeyError } from './error.ts';

/** A JWK that was read from the store. */
export interface OpenedKey {
  readonly jwk: string;
  /** `clear`: it was not encrypted; `before`: it was encrypted with the secret before. */
  readonly kept: 'clear' | 'before' | 'current';
}

/** Turns private keys into the text that the store keeps, and back. */
export interface KeyCipher {
  /** Whether there is a secret that keys are encrypted with. */
  readonly encrypts: boolean;
  /** Text to keep of a JWK: encrypted when there is a secret for it, JSON otherwise. */
  seal(jwk: string): Promise<string>;
  /**
   * The JWK of a kept text, and how it was kept. Throws `KeyError` when the secret is not the one
   * it was sealed with.
   */
  open(kept: string): Promise<OpenedKey>;
}

/**
 * Makes the cipher of the service's private keys: JWE with a direct 256-bit key and AES-GCM (RFC
 * 7516, RFC 7518 §5.3), the key derived from the operator's secret (HKDF, RFC 5869). Keys that are
 * kept in the clear, or under the secret before, are still read.
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
    async open(kept) {
      if (kept.startsWith('{')) return { jwk: kept, kept: 'clear' };
      for (const key of [current, before]) {
        const jwk = key === undefined ? undefined : await decrypt(kept, key);
        if (jwk !== undefined) return { jwk, kept: key === current ? 'current' : 'before' };
      }
      const given = current === undefined ? 'it is not set' : 'it is another one';
      throw new KeyError(
        `Cannot read the keys of the service: KEY_ENCRYPTION_SECRET must be the secret that they were encrypted with: ${given}; to replace it, set the old one as KEY_ENCRYPTION_SECRET_BEFORE`,
      );
    },
  };
}

/** A key of 256 bits; the secret is random text, so that a slow derivation would buy nothing. */
function deriveKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'subreport', 'auth_key', 32));
}

async function decrypt(kept: string, key: Uint8Array): Promise<string | undefined> {
  try {
    const { plaintext } = await compactDecrypt(kept, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    return new TextDecoder().decode(plaintext);
  } catch {
    return undefined; // sealed with another secret, or changed: the caller says so
  }
}
