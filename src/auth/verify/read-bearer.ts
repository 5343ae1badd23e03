import { AccessError } from '../error.ts';

/**
 * Returns what follows the scheme in `Authorization: Bearer <token>`; the scheme is
 * case-insensitive. `requireTokenSyntax` checks whether it is a token.
 */
export function findBearer(header = ''): string {
  const scheme = /^bearer(?: +|$)/i.exec(header)?.[0];
  if (scheme !== undefined) return header.slice(scheme.length);
  throw new AccessError(
    'MISSING_TOKEN',
    "Cannot respond without an access token: send the header 'Authorization: Bearer <ACCESS_TOKEN>'",
  );
}

/** Returns a token if it consists of the characters of one (RFC 6750 §2.1). */
export function requireTokenSyntax(token: string): string {
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return token;
  throw new AccessError(
    'MALFORMED',
    "Cannot read the Authorization header: it must be 'Bearer', one space and one token",
  );
}
