import type { Scope } from '../contract/token.ts';
import type { TenantId } from '../storage/store.ts';
import { createActiveCheck, type FindTokenClient } from './active-token.ts';
import type { AuthContext } from './auth-context.ts';
import { createDecisionCache } from './decision-cache.ts';
import { AccessError } from './error.ts';
import { besideOwn, type ExternalIssuer } from './external-issuer.ts';
import { clockToleranceSeconds, createTokenVerifier, type OwnTokenClaims } from './verify-token.ts';

/** Who sent a request: a client, and the tenant whose records it may see. */
export interface Access {
  readonly clientId: string;
  readonly tenant: TenantId;
  /**
   * Until when, in UTC epoch seconds, this may be said of the same token again while the store's
   * mark stays; 0 when it must be asked each time.
   */
  readonly expiresAt: number;
}

/** What checks access tokens. */
export interface ResourceServer {
  /**
   * What a token says that this service issued and that has not ended; fails with `AccessError`.
   */
  readonly verifyToken: (token: string) => Promise<OwnTokenClaims>;
  /** The client of a good token, or `undefined` when it was disabled or the token revoked since. */
  readonly findTokenClient: FindTokenClient;
  /**
   * Checks the `Authorization` header (RFC 6750 §2.1): a Bearer token of ours or of the external
   * issuer, good, with the scope, of a client that is active. The tenant is that of the client,
   * whoever issued the token. Fails with `AccessError`, or `IssuerError` when the external issuer's
   * keys cannot be had.
   */
  readonly authorize: (header: string | undefined, scope: Scope) => Promise<Access>;
}

/** Makes the check of access tokens. */
export function createResourceServer(context: AuthContext, external?: ExternalIssuer): ResourceServer {
  const verifyToken = createTokenVerifier(context);
  const findTokenClient = createActiveCheck(context);
  const verifyAny = besideOwn(verifyToken, external);
  const decide = createDecisionCache<Access>(context);
  return {
    verifyToken,
    findTokenClient,
    async authorize(header, scope) {
      const token = readBearer(header);
      const decision = decide(`${scope} ${token}`);
      if (decision.known !== undefined) return decision.known;
      const claims = await verifyAny(token);
      const client = await findTokenClient(claims);
      if (client === undefined) {
        throw new AccessError(
          'INVALID_TOKEN',
          'Cannot accept the access token: its client must be active and one of its issuer, and it must not have been revoked',
          undefined,
          claims.clientId,
        );
      }
      if (!claims.scopes.includes(scope) || !client.scopes.includes(scope)) {
        const { scopeName = scope } = claims;
        throw new AccessError(
          'INSUFFICIENT_SCOPE',
          `Cannot do this with the access token: its scope must include '${scopeName}'`,
          scopeName,
          client.clientId,
        );
      }
      // nothing outside the store has a say in a token of ours
      const expiresAt = claims.isOwn ? claims.expiresAt + clockToleranceSeconds : 0;
      const access = { clientId: client.clientId, tenant: client.tenant, expiresAt };
      if (claims.isOwn) decision.keep(access, claims.expiresAt);
      return access;
    },
  };
}

/**
 * The token of `Authorization: Bearer <token>`; the scheme without case, the token as RFC 6750 §2.1
 * spells it.
 */
function readBearer(header: string | undefined): string {
  const [, scheme, rest] = /^([^ ]+)(.*)$/.exec(header ?? '') ?? [];
  if (scheme?.toLowerCase() !== 'bearer') {
    throw new AccessError(
      'MISSING_TOKEN',
      "Cannot answer without an access token: send the header 'Authorization: Bearer <ACCESS_TOKEN>'",
    );
  }
  const token = /^ +([A-Za-z0-9._~+/-]+=*)$/.exec(rest ?? '')?.[1];
  if (token === undefined) {
    throw new AccessError(
      'MALFORMED',
      "Cannot read the Authorization header: it must be 'Bearer', one blank and one token",
    );
  }
  return token;
}
