/**
 * Whether every part of a JWT is spelled as base64url writes it (RFC 4648 §3.5): decoders ignore
 * bits beyond the last byte, so that one token would have several spellings, and each its own place
 * in what is remembered and logged of tokens.
 */
export function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}
