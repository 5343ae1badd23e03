import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Generates a client secret: 256 random bits in base64url (RFC 6749 §10.10). */
export function generateSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Hashes a generated secret with SHA-256: 256 random bits cannot be guessed, however fast the hash
 * is.
 */
export function hashGeneratedSecret(secret: string): string {
  return `sha256$${digest(secret).toString('base64url')}`;
}

/**
 * Whether a secret matches a hash of `hashGeneratedSecret`, compared in constant time; `false` for
 * hashes of another kind.
 */
export function verifyGeneratedSecret(stored: string, secret: string): boolean {
  const [kind, expected = ''] = stored.split('$');
  return kind === 'sha256' && timingSafeEqual(Buffer.from(expected, 'base64url'), digest(secret));
}

/** Takes as long as a comparison, for clients that do not exist. */
export function verifyNothing(secret: string): void {
  timingSafeEqual(digest(secret), digest('no such client'));
}

const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer');
