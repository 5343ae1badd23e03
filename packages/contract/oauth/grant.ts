/** The grants of the token endpoint (`spec.md` "Authentication"; RFC 6749 §4.4 and §6). */
export const grantTypes = ['client_credentials', 'refresh_token'] as const;
export type GrantType = (typeof grantTypes)[number];

/**
 * What happens to a used refresh token: `rotate` invalidates it, `reuse` leaves it valid until it
 * expires.
 */
export const refreshTokenUses = ['rotate', 'reuse'] as const;
export type RefreshTokenUse = (typeof refreshTokenUses)[number];

/** All scopes (RFC 6749 §3.3). */
export const scopes = ['subscription:read', 'subscription:write'] as const;
export type Scope = (typeof scopes)[number];

/** The scopes in public documents; the operator grants the others. */
export const publicScopes: readonly Scope[] = ['subscription:read'];

/**
 * Scopes of OpenID Connect (Core §5.4, §11). Clients of an identity provider may send them; they
 * are ignored and not granted.
 */
export const identityScopes: ReadonlySet<string> = new Set([
  ...['openid', 'profile', 'email', 'address', 'phone', 'offline_access'],
]);

/** The scopes of a client that was created without explicit scopes. */
export const defaultScopes: readonly Scope[] = ['subscription:read'];

/** The scopes of operators' tokens, for the management listener. */
export const operatorScopes = ['operator:read', 'operator:write', 'subscription:write'] as const;
export type OperatorScope = (typeof operatorScopes)[number];

/**
 * The algorithms that can sign access tokens (RFC 7518 §3.1, RFC 8037 §3.1): all are asymmetric, so
 * that a key that verifies cannot sign.
 */
export const signingAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];
