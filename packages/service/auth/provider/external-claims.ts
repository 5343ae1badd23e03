import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { defaultScopes } from '../../../contract/oauth/grant.ts';
import { AccessError } from '../error.ts';
import type { TokenClaims } from '../verify/verify-token.ts';

/**
 * The formats of external issuers' access tokens.
 * - `rfc9068`: the standard: header `typ` at+jwt, claim `client_id`.
 * - `keycloak`: that of Keycloak and others from before the standard: header `typ` JWT or none, the
 *   client in `azp`, possibly in `client_id` too.
 */
export const externalProfiles = ['rfc9068', 'keycloak'] as const;
type ExternalProfile = (typeof externalProfiles)[number];

/**
 * Claims that hold the client id at one issuer or another. The issuer itself sets them; `sub` is
 * not among them, as a user may control it.
 */
export const clientIdClaims = ['client_id', 'azp', 'cid', 'appid'] as const;
type ClientIdClaim = (typeof clientIdClaims)[number];

/** Algorithms that an external issuer may sign with: only asymmetric ones (RFC 8725 §3.1). */
export const externalAlgorithms = [
  ...['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['EdDSA', 'Ed25519'],
] as const;

/**
 * The scope setting for issuers whose tokens need no scope: a client is allowed if it is in our
 * table.
 */
export const anyScope = '*';

/** Maximum age of a token in seconds, whatever its `exp` says: a leaked one ends within a day. */
export const externalTokenSecondsMax = 86_400;

/** Allowed clock difference in seconds (RFC 7519 §4.1.4). */
export const externalToleranceSeconds = 30;

export interface ExternalSettings {
  /** Compared exactly, including a trailing slash (RFC 8414 §3.3). */
  readonly issuer: string;
  /** What `aud` must contain. */
  readonly audience: string;
  readonly profile: ExternalProfile;
  /** The claim with the client id; `undefined` for that of the profile. */
  readonly clientIdClaim: ClientIdClaim | undefined;
  /** The claim with the scopes: a string separated by spaces, or a list. */
  readonly scopeClaim: string;
  /**
   * The scope that stands for `subscription:read`, or `anyScope`; `undefined` for that of the
   * profile.
   */
  readonly requiredScope: string | undefined;
}

interface ProfileRules {
  /**
   * Accepted values of the header's `typ`, lower case, without `application/` (RFC 7515 §4.1.9).
   */
  readonly types: readonly (string | undefined)[];
  readonly clientIdClaims: readonly ClientIdClaim[];
  readonly requiredScope: string;
}

const profileRules: Readonly<Record<ExternalProfile, ProfileRules>> = {
  rfc9068: { types: ['at+jwt'], clientIdClaims: ['client_id'], requiredScope: 'subscription:read' },
  keycloak: {
    types: ['at+jwt', 'jwt', undefined],
    clientIdClaims: ['client_id', 'azp'],
    requiredScope: anyScope,
  },
};

/**
 * Returns the claims of a token of the external issuer whose signature, issuer, audience and times
 * are valid. Throws `AccessError` if it is not an access token of the profile.
 */
export function readExternalClaims(
  settings: ExternalSettings,
  header: JWTHeaderParameters,
  payload: JWTPayload,
): TokenClaims {
  const rules = profileRules[settings.profile];
  requireAccessToken(rules, settings.profile, header, payload);
  const clientId = readClientId(
    payload,
    settings.clientIdClaim === undefined ? rules.clientIdClaims : [settings.clientIdClaim],
  );
  if (settings.profile === 'keycloak' && !isOfClientItself(clientId, payload)) {
    throw refusedToken('it must have been issued to the client itself by client credentials, not to a user');
  }
  const { requiredScope = rules.requiredScope } = settings;
  const { iat: issuedAt = 0 } = payload;
  const allowed = requiredScope === anyScope || readScopes(payload[settings.scopeClaim]).includes(requiredScope);
  return {
    clientId,
    scopes: allowed ? defaultScopes : [],
    issuedAt,
    validUntil: Math.min(payload.exp ?? 0, issuedAt + externalTokenSecondsMax) + externalToleranceSeconds,
    isOwn: false,
    ...(requiredScope !== anyScope && { scopeName: requiredScope }),
  };
}

/** The error of a rejected token; `rule` must contain neither `"` nor `\`. */
export const refusedToken = (rule: string): AccessError =>
  new AccessError('INVALID_TOKEN', `Cannot accept the access token: ${rule}`);

/**
 * Other tokens signed by the same keys must not be accepted as access tokens (RFC 9068 §4, RFC 8725
 * §3.11).
 */
function requireAccessToken(
  { types }: ProfileRules,
  profile: ExternalProfile,
  header: JWTHeaderParameters,
  payload: JWTPayload,
): void {
  const type = typeof header.typ === 'string' ? header.typ.toLowerCase().replace(/^application\//, '') : header.typ;
  if (!types.includes(type)) throw refusedToken(`its header typ must be ${types[0]}`);
  if (payload.events !== undefined) throw refusedToken('it must be an access token, not a logout or event token');
  if (profile === 'rfc9068') {
    if (typeof payload.sub !== 'string' || payload.sub === '')
      throw refusedToken('its sub must be present (RFC 9068 section 2.2)');
    return;
  }
  // If the header has no conclusive `typ`: claims that only an ID token has, or Keycloak's claim
  // `typ`: Bearer, ID, Refresh, Offline, Logout.
  const { typ = 'Bearer' } = payload;
  if (payload.nonce !== undefined || payload.at_hash !== undefined || typ !== 'Bearer') {
    throw refusedToken('it must be an access token, not an ID token or a refresh token');
  }
}

/**
 * Whether a token of a provider from before RFC 9068 was issued by client credentials. A user's
 * token names the same client, and only its other claims differ; a token without any of them is
 * rejected.
 */
function isOfClientItself(clientId: string, payload: JWTPayload): boolean {
  const { sub, preferred_username: username, gty, idtyp } = payload;
  if (payload.auth_time !== undefined) return false; // a user signed in
  // Keycloak
  if (username !== undefined) return username === `service-account-${clientId}`.toLowerCase();
  if (gty !== undefined) return gty === 'client-credentials'; // Auth0
  if (idtyp !== undefined) return idtyp === 'app'; // Entra ID
  // Keycloak
  const isServiceAccount = typeof payload.clientHost === 'string' || typeof payload.clientAddress === 'string';
  const isEntraApp = sub !== undefined && payload.oid === sub;
  // Okta, Auth0
  return isServiceAccount || isEntraApp || sub === clientId || sub === `${clientId}@clients`;
}

/** Characters of a client_id (RFC 6749 Appendix A.1). */
const clientIdPattern = /^[\x20-\x7e]{1,255}$/;

function readClientId(payload: JWTPayload, names: readonly ClientIdClaim[]): string {
  const [clientId, ...others] = names.map((name) => payload[name]).filter((value) => value !== undefined);
  if (typeof clientId !== 'string' || !clientIdPattern.test(clientId)) {
    throw refusedToken(`it must name its client in ${names.join(' or ')}`);
  }
  if (others.some((other) => other !== clientId)) {
    throw refusedToken(`it must name the same client in ${names.join(' and ')}`);
  }
  return clientId;
}

function readScopes(claim: unknown): readonly unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}
