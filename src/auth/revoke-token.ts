import type { ClientRow } from '../storage/tables/client.ts';
import { revokeRefreshFamily } from '../storage/tables/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import { AccessError, TokenError } from './error.ts';
import { readOwnRefreshToken } from './read-own-refresh-token.ts';
import type { ResourceServer } from './resource-server.ts';

/**
 * Revokes a token of a client (RFC 7009 §2): for a refresh token its whole family, for an access
 * token the family that it belongs to. A token that is invalid, has expired or belongs to another
 * client is ignored, as the response must not reveal which (§2.2).
 */
export async function revokeToken(
  context: AuthContext,
  { verifyToken }: Pick<ResourceServer, 'verifyToken'>,
  client: ClientRow,
  token: string | undefined,
): Promise<void> {
  if (token === undefined) throw new TokenError('invalid_request', 'Cannot revoke: token must be given');
  const family = await familyOf(context, verifyToken, client, token);
  if (family !== undefined) await revokeRefreshFamily(context.store, client.clientId, family, context.now());
}

/**
 * Returns the family of a client's token; the statement that revokes it checks the client again.
 * `token_type_hint` is not needed, as the format shows the kind of token.
 */
async function familyOf(
  context: AuthContext,
  verifyToken: ResourceServer['verifyToken'],
  client: ClientRow,
  token: string,
): Promise<string | undefined> {
  const content = await readOwnRefreshToken(context, token);
  if (content !== undefined) return content.family;
  const claims = await verifyToken(token).catch((error: unknown) => {
    if (error instanceof AccessError) return undefined;
    throw error;
  });
  if (claims === undefined || claims.clientId !== client.clientId) return undefined;
  if (claims.family === undefined) {
    throw new TokenError(
      'unsupported_token_type',
      'Cannot revoke the token: it must belong to a client with refresh tokens; it expires within minutes',
    );
  }
  return claims.family;
}
