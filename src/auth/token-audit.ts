import { decodeJwt } from 'jose';
import type { TokenResponse } from '../contract/token.ts';

/** Longest client id that is written as it was sent. */
const idLengthMax = 255;

/** What a generated secret, an access token and a refresh token begin like. */
const secretLike = /^(?:[\w-]{43}$|eyJ|[\w-]{22}\.\d)/;

/**
 * What the audit trail says of a client id that nobody has proved yet; it is bounded, and what
 * looks like a secret or a token is left out.
 */
export function describeClaimedId(clientId: string | undefined): string | null {
  if (clientId === undefined) return null;
  return secretLike.test(clientId) ? '(left out: it looks like a secret)' : clientId.slice(0, idLengthMax);
}

/**
 * What the audit trail says of tokens that were issued: the access token's id and the refresh
 * family, never a token.
 */
export function describeIssued({
  access_token,
}: Pick<TokenResponse, 'access_token'>): Readonly<Record<string, string>> {
  const { jti, sid } = decodeJwt(access_token);
  return { ...(typeof jti === 'string' && { jti }), ...(typeof sid === 'string' && { family: sid }) };
}
