/**
 * Whether every part of a JWT is canonical base64url (RFC 4648 §3.5). Decoders ignore the bits
 * after the last byte, so one token would have several spellings, each with its own cache entries
 * and log lines.
 */
export function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
