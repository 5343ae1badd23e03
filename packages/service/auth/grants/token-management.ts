import type { IntrospectionResponse } from '../../../contract/oauth/token.ts';
import type { ClientRow } from '../../storage/tables/client.ts';
import { findRefreshFamily, revokeRefreshFamily } from '../../storage/tables/refresh-family.ts';
import type { AuthContext } from '../auth-context.ts';
import { AccessError, TokenError } from '../error.ts';
import type { ResourceServer } from '../verify/resource-server.ts';
import { refreshUseOf } from './issue-token.ts';
import { isOver } from './refresh-token.ts';
import { type RefreshTokenContent, readOwnRefreshToken } from './refresh-token-format.ts';

/** The response for every token that is not active, whatever the reason (RFC 7662 §2.2). */
const inactive = { active: false } as const;

/**
 * Returns the introspection response for a client's own token (RFC 7662 §2). A token of another
 * client looks like one that does not exist, so that nobody can test stolen tokens (§4).
 */
export async function introspectToken(
  context: AuthContext,
  { verifyToken, findTokenClient }: ResourceServer,
  client: ClientRow,
  token: string | undefined,
): Promise<IntrospectionResponse> {
  if (token === undefined) throw new TokenError('invalid_request', 'Cannot introspect: token must be given');
  const content = await readOwnRefreshToken(context, token);
  if (content !== undefined) {
    const family = await findRefreshFamily(context.store, client.clientId, content.family);
    const alive =
      family !== undefined &&
      !isOver(family, client, context.now()) &&
      (family.generation === content.generation || isReusable(context, client, content));
    if (!alive) return inactive;
    const { scope, id } = family;
    return {
      active: true,
      token_type: 'refresh_token',
      client_id: client.clientId,
      sub: client.clientId,
      scope,
      exp: content.expiresAt ?? family.expiresAt,
      sid: id,
    };
  }
  const claims = await ownClaims(verifyToken, client, token);
  if (claims === undefined) return inactive;
  if ((await findTokenClient(claims)) === undefined) return inactive;
  const { iss, sub, aud, exp, iat, jti, scope, sid } = claims.payload;
  const known = { iss, sub, aud, exp, iat, jti, scope, sid };
  return { active: true, token_type: 'Bearer', client_id: claims.clientId, ...known } as IntrospectionResponse;
}

/** Whether a refresh token that is not the newest one of its family may still be used. */
const isReusable = (context: AuthContext, client: ClientRow, { expiresAt }: RefreshTokenContent): boolean =>
  refreshUseOf(context, client) === 'reuse' && expiresAt !== undefined && expiresAt > context.now();

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
  const claims = await ownClaims(verifyToken, client, token);
  if (claims === undefined) return undefined;
  if (claims.family === undefined) {
    throw new TokenError(
      'unsupported_token_type',
      'Cannot revoke the token: it must belong to a client with refresh tokens; it expires within minutes',
    );
  }
  return claims.family;
}

/** The claims of a client's valid access token; `undefined` for any other token. */
async function ownClaims(verifyToken: ResourceServer['verifyToken'], { clientId }: ClientRow, token: string) {
  const claims = await verifyToken(token).catch((error: unknown) => {
    if (error instanceof AccessError) return undefined;
    throw error;
  });
  return claims?.clientId === clientId ? claims : undefined;
}
