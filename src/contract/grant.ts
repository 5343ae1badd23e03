/** The grants of the token endpoint (`spec.md` "Authentication"; RFC 6749 §4.4 and §6). */
export const grantTypes = ['client_credentials', 'refresh_token'] as const;
export type GrantType = (typeof grantTypes)[number];

/**
 * What happens to a used refresh token: `rotate` invalidates it, `reuse` leaves it valid until it
 * expires.
 */
export const refreshTokenUses = ['rotate', 'reuse'] as const;
export type RefreshTokenUse = (typeof refreshTokenUses)[number];
