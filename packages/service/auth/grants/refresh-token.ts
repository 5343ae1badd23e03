import type { ClientRow } from '../../storage/tables/client.ts';
import {
  findRefreshFamily,
  type RefreshFamily,
  revokeRefreshFamily,
  rotateRefreshFamily,
} from '../../storage/tables/refresh-family.ts';
import type { AuthContext } from '../auth-context.ts';
import { TokenError } from '../error.ts';
import { chooseScopes, type Grant } from './grant.ts';
import { issueTime, issueToken, refreshUseOf } from './issue-token.ts';
import { type RefreshTokenContent, readOwnRefreshToken } from './refresh-token-format.ts';

/**
 * The refresh grant (RFC 6749 §6, `spec.md` "Authentication" items 5 and 6). With `rotate`, each
 * use replaces the refresh token, and a replaced token revokes its whole family (RFC 9700 §4.14.2).
 * The token just replaced is an exception: for a short grace it returns the same successor again,
 * so that a lost response can be retried. With `reuse`, a used refresh token stays valid until it
 * expires.
 */
export const refreshTokenGrant: Grant = {
  grantType: 'refresh_token',
  async handle(context, client, { refreshToken, scope }) {
    if (refreshToken === undefined) {
      throw new TokenError('invalid_request', 'Cannot refresh: refresh_token must be given');
    }
    const content = await readOwnRefreshToken(context, refreshToken);
    if (content === undefined || (content.expiresAt ?? Infinity) <= context.now()) throw refused();
    const scopesOf = ({ scope: granted }: RefreshFamily) =>
      chooseScopes(
        scope,
        granted.split(' ').filter((each) => client.scopes.includes(each)),
      );
    // before the rotation: a rejected scope must not use up the token
    if (scope !== undefined) scopesOf(await livingFamily(context, client, content.family));
    const family = await nextGeneration(context, client, content);
    return issueToken(context, client, scopesOf(family), family);
  },
};

async function livingFamily(context: AuthContext, client: ClientRow, id: string): Promise<RefreshFamily> {
  const family = await findRefreshFamily(context.store, client.clientId, id);
  if (family === undefined || isOver(family, client, context.now())) throw refused();
  return family;
}

/**
 * Returns the family with its newest generation after the token was used, now or a moment ago by
 * the same client.
 */
async function nextGeneration(
  context: AuthContext,
  client: ClientRow,
  { family: id, generation, expiresAt }: RefreshTokenContent,
): Promise<RefreshFamily> {
  const { store, settings } = context;
  const nowSeconds = issueTime(context, client);
  const isReusing = refreshUseOf(context, client) === 'reuse';
  const rotated = await rotateRefreshFamily(store, {
    clientId: client.clientId,
    id,
    generation,
    nowSeconds,
    expiresAt: nowSeconds + settings.refreshTokenSeconds,
    accessEndsAt: nowSeconds + settings.accessTokenSeconds,
    revokedUntil: client.tokensRevokedAt,
    // a token without its own expiry was issued while tokens were rotated
    reuse: isReusing && expiresAt !== undefined,
  });
  if (rotated !== undefined) return rotated;
  const family = await livingFamily(context, client, id);
  const justReplaced = family.generation === generation + 1;
  if (justReplaced && nowSeconds - family.rotatedAt < settings.refreshGraceSeconds) return family;
  if (isReusing) throw refused();
  await revokeRefreshFamily(store, client.clientId, id, nowSeconds);
  throw refused(id);
}

/** Whether a family can no longer be refreshed. */
export const isOver = ({ revokedAt, expiresAt, startedAt }: RefreshFamily, client: ClientRow, now: number): boolean =>
  revokedAt !== null || expiresAt <= now || startedAt <= (client.tokensRevokedAt ?? -1);

/**
 * One message for every reason, so that it reveals nothing to a person who found or forged the
 * token.
 */
const refused = (reusedFamily?: string) =>
  new TokenError(
    'invalid_grant',
    'Cannot refresh: refresh_token must be the latest one of this client, unused and not expired; request a new one with grant_type=client_credentials',
    undefined,
    reusedFamily,
  );
