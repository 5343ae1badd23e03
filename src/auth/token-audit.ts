import { decodeJwt } from 'jose';
import type { TokenResponse } from '../contract/token.ts';

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
