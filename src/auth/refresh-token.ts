import {
  findRefreshFamily,
  type RefreshFamily,
  revokeRefreshFamily,
  rotateRefreshFamily,
} from '../storage/refresh-family.ts';
import type { AuthContext } from './auth-context.ts';
import { TokenError } from './error.ts';
import type { Grant } from './grant.ts';
import { issueToken } from './issue-token.ts';
import { readOwnRefreshToken } from './read-own-refresh-token.ts';
import { chooseScopes } from './scope.ts';

/**
 * The refresh grant (RFC 6749 §6, `spec.md` "Authentication" items 5 and 6). Each use replaces the refresh token; a dead one ends its whole family
 * (RFC 9700 §4.14.2), except that the one just replaced gets the same successor again for a short grace, so that a lost answer can be asked for again.
 */
export const refreshTokenGrant: Grant = {
  grantType: 'refresh_token',
  async handle(context, client, { refreshToken, scope }) {
    if (refreshToken === undefined) {
      throw new TokenError('invalid_request', 'Cannot refresh: refresh_token must be given');
    }
    const content = await readOwnRefreshToken(context, refreshToken);
    if (content === undefined) throw refused();
    const key = { clientId: client.clientId, id: content.family, generation: content.generation };
    const scopesOf = ({ scope: granted }: RefreshFamily) =>
      chooseScopes(
        scope,
        granted.split(' ').filter((each) => client.scopes.includes(each)),
      );
    if (scope !== undefined) scopesOf(await livingFamily(context, key)); // before the rotation: a refused scope must not use the token up
    const family = await nextGeneration(context, key);
    return issueToken(context, client.clientId, scopesOf(family), family);
  },
};

async function livingFamily(
  { store, now }: AuthContext,
  key: { clientId: string; id: string },
): Promise<RefreshFamily> {
  const family = await findRefreshFamily(store, key.clientId, key.id);
  if (family === undefined || isOver(family, now())) throw refused();
  return family;
}

/** The family with its living generation after the one presented was used: rotated now, or a moment ago by the same client. */
async function nextGeneration(
  context: AuthContext,
  key: { clientId: string; id: string; generation: number },
): Promise<RefreshFamily> {
  const { store, settings } = context;
  const now = context.now();
  const rotated = await rotateRefreshFamily(store, key, now, now + settings.refreshTokenSeconds);
  if (rotated !== undefined) return rotated;
  const family = await livingFamily(context, key);
  const justReplaced = family.generation === key.generation + 1;
  if (justReplaced && now - family.rotatedAt < settings.refreshGraceSeconds) return family;
  await revokeRefreshFamily(store, key.clientId, key.id, now);
  throw refused();
}

const isOver = (family: RefreshFamily, now: number): boolean => family.revokedAt !== null || family.expiresAt <= now;

/** One text for every reason, so that it tells nothing to somebody who found or made the token. */
const refused = () =>
  new TokenError(
    'invalid_grant',
    'Cannot refresh: refresh_token must be the newest one of this client, unused and not expired; ask for a new one with grant_type=client_credentials',
  );
