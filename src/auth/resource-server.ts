import type { Scope } from '../contract/scope.ts';
import type { TenantId } from '../storage/store.ts';
import { inSpan } from '../tracing/span.ts';
import { createActiveCheck, type FindTokenClient } from './active-token.ts';
import type { AuthContext } from './auth-context.ts';
import { createDecisionCache } from './decision-cache.ts';
import { AccessError } from './error.ts';
import { type ExternalIssuer, verifyByIssuer } from './external-issuer.ts';
import { findBearer, requireTokenSyntax } from './read-bearer.ts';
import { createTokenVerifier, type OwnTokenClaims } from './verify-token.ts';

/** The client that sent a request, and the tenant whose records it may read. */
export interface Access {
  readonly clientId: string;
  readonly tenant: TenantId;
  /** Requests per minute of the client; 0 for no limit, `null` for the service's default. */
  readonly rateLimit: number | null;
}

/** Checks access tokens. */
export interface ResourceServer {
  /** Returns the claims of a valid token that this service issued; throws `AccessError`. */
  readonly verifyToken: (token: string) => Promise<OwnTokenClaims>;
  /**
   * Returns the client of a valid token, or `undefined` if it is disabled or the token is revoked.
   */
  readonly findTokenClient: FindTokenClient;
  /**
   * Checks the `Authorization` header (RFC 6750 §2.1): it must hold a valid Bearer token with the
   * scope, issued by us or the external issuer to an active client. The tenant is always that of
   * the registered client, never a claim of the token. Throws `AccessError`, or `IssuerError` if
   * the external issuer's keys are not available.
   */
  readonly authorize: (header: string | undefined, scope: Scope) => Promise<Access>;
}

/** Creates the check of access tokens. */
export function createResourceServer(context: AuthContext, external?: ExternalIssuer): ResourceServer {
  const verifyToken = createTokenVerifier(context);
  const findTokenClient = createActiveCheck(context);
  const verifyAny = verifyByIssuer(verifyToken, external);
  const decide = createDecisionCache<Access>(context);
  return {
    verifyToken,
    findTokenClient,
    authorize: (header, scope) => inSpan('check token', () => authorize(header, scope)),
  };

  async function authorize(header: string | undefined, scope: Scope): Promise<Access> {
    const token = findBearer(header);
    const decision = decide(`${scope} ${token}`);
    if (decision.known !== undefined) return decision.known;
    const claims = await verifyAny(requireTokenSyntax(token));
    const client = await findTokenClient(claims);
    if (client === undefined) {
      throw new AccessError(
        'INVALID_TOKEN',
        'Cannot accept the access token: its client must be active and belong to its issuer, and it must not have been revoked',
        undefined,
        claims.clientId,
      );
    }
    if (!claims.scopes.includes(scope) || !client.scopes.includes(scope)) {
      const { scopeName = scope } = claims;
      throw new AccessError(
        'INSUFFICIENT_SCOPE',
        `Cannot use the access token for this operation: its scope must include '${scopeName}'`,
        scopeName,
        client.clientId,
      );
    }
    const access = { clientId: client.clientId, tenant: client.tenant, rateLimit: client.rateLimit };
    // only the store decides on our own tokens
    if (claims.isOwn) decision.keep(access, claims.expiresAt);
    return access;
  }
}
