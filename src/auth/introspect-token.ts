import type { IntrospectionResponse } from '../contract/token.ts';
import type { ClientRow } from '../storage/tables/client.ts';
import { findRefreshFamily } from '../storage/tables/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import { AccessError, TokenError } from './error.ts';
import { refreshUseOf } from './issue-token.ts';
import { readOwnRefreshToken } from './read-own-refresh-token.ts';
import { isOver } from './refresh-token.ts';
import type { RefreshTokenContent } from './refresh-token-format.ts';
import type { ResourceServer } from './resource-server.ts';

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
  const claims = await verifyToken(token).catch((error: unknown) => {
    if (error instanceof AccessError) return undefined;
    throw error;
  });
  if (claims === undefined || claims.clientId !== client.clientId) return inactive;
  if ((await findTokenClient(claims)) === undefined) return inactive;
  const { iss, sub, aud, exp, iat, jti, scope, sid } = claims.payload;
  const known = { iss, sub, aud, exp, iat, jti, scope, sid };
  return { active: true, token_type: 'Bearer', client_id: claims.clientId, ...known } as IntrospectionResponse;
}

/** Whether a refresh token that is not the newest one of its family may still be used. */
const isReusable = (context: AuthContext, client: ClientRow, { expiresAt }: RefreshTokenContent): boolean =>
  refreshUseOf(context, client) === 'reuse' && expiresAt !== undefined && expiresAt > context.now();
