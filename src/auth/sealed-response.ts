import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a response with a key derived from the caller's token (HKDF, RFC 5869). The service
 * stores only the token's hash, so a reader of the store cannot decrypt the response.
 */
export function sealResponse(token: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, deriveKey(token), nonce);
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

/** Decrypts a response of `sealResponse`; `undefined` with another token, or if it was changed. */
export function openResponse(token: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(algorithm, deriveKey(token), bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // the authentication tag does not match
  }
}

const deriveKey = (token: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', token, 'subreport', 'idempotency_key', 32));
