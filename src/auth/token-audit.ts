import { decodeJwt } from 'jose';
import type { TokenResponse } from '../contract/token.ts';

/** Longest client id that is logged whole. */
const idLengthMax = 255;

/** How a generated secret, an access token, a refresh token or an operator's token begins. */
const secretLike = /^(?:[\w-]{43}$|eyJ|[\w-]{22}\.\d|sro_)/;

/**
 * Returns an unauthenticated client id for the audit log: truncated, and without what looks like a
 * secret, a token or an email address.
 */
export function describeClaimedId(clientId: string | undefined): string | null {
  if (clientId === undefined) return null;
  if (clientId.includes('@')) return '(omitted: it looks like an email address)';
  return secretLike.test(clientId) ? '(omitted: it looks like a secret)' : clientId.slice(0, idLengthMax);
}

/**
 * Returns what the audit log says about issued tokens: the id of the access token and the refresh
 * family, never a token.
 */
export function describeIssued({
  access_token,
}: Pick<TokenResponse, 'access_token'>): Readonly<Record<string, string>> {
  const { jti, sid } = decodeJwt(access_token);
  return { ...(typeof jti === 'string' && { jti }), ...(typeof sid === 'string' && { family: sid }) };
}
