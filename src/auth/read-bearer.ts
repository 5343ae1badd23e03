import { AccessError } from './error.ts';

/**
 * Returns the token of `Authorization: Bearer <token>`; the scheme is case-insensitive, the token
 * as in RFC 6750 §2.1.
 */
export function readBearer(header: string | undefined): string {
  const [, scheme, rest] = /^([^ ]+)(.*)$/.exec(header ?? '') ?? [];
  if (scheme?.toLowerCase() !== 'bearer') {
    throw new AccessError(
      'MISSING_TOKEN',
      "Cannot respond without an access token: send the header 'Authorization: Bearer <ACCESS_TOKEN>'",
    );
  }
  const token = /^ +([A-Za-z0-9._~+/-]+=*)$/.exec(rest ?? '')?.[1];
  if (token === undefined) {
    throw new AccessError(
      'MALFORMED',
      "Cannot read the Authorization header: it must be 'Bearer', one space and one token",
    );
  }
  return token;
}
