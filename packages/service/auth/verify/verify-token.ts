import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { signingAlgorithms } from '../../../contract/oauth/grant.ts';
import type { AuthContext } from '../auth-context.ts';
import { AccessError } from '../error.ts';

export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UTC epoch seconds. */
  readonly issuedAt: number;
  /** When it is no longer accepted: its `exp`, or later if another issuer's clock may differ. */
  readonly validUntil: number;
  /** Whether this service issued it. */
  readonly isOwn: boolean;
  /** Id of our own key that signed it; absent if another issuer did. */
  readonly kid?: string;
  /** The refresh family that it belongs to, if any. */
  readonly family?: string;
  /** The external issuer's name for the scope of the report, if it differs. */
  readonly scopeName?: string;
}

/** Claims of a valid access token of this service. */
export interface OwnTokenClaims extends TokenClaims {
  /** Id of the key that signed it. */
  readonly kid: string;
  /** All its claims. */
  readonly payload: JWTPayload;
}

/** Creates the check of access tokens that this service issued (RFC 9068 §4). */
export function createTokenVerifier({ keys, settings, now }: AuthContext): (token: string) => Promise<OwnTokenClaims> {
  const options: JWTVerifyOptions = {
    issuer: settings.issuer,
    audience: settings.audience,
    typ: 'at+jwt',
    algorithms: [...signingAlgorithms],
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti', 'scope'],
  };
  return (token) => verify(token, keys, { ...options, currentDate: new Date(now() * 1000) });
}

/**
 * Whether all parts of a JWT are canonical base64url (RFC 4648 §3.5). Decoders ignore the bits
 * after the last byte, so one token would have several spellings, each with its own cache entries
 * and log lines.
 */
export function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function verify(token: string, keys: AuthContext['keys'], options: JWTVerifyOptions): Promise<OwnTokenClaims> {
  if (!isCanonical(token)) throw invalid();
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid, alg }) => {
        const key = await keys.verifyingKey(kid);
        if (key === undefined || key.alg !== alg) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      options,
    );
    return toClaims(payload, protectedHeader.kid ?? '');
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalid();
    throw error;
  }
}

function toClaims(payload: JWTPayload, kid: string): OwnTokenClaims {
  const { client_id: clientId, scope, exp, iat, jti, sub, sid } = payload;
  const texts = [clientId, scope, jti, sub].every((claim) => typeof claim === 'string');
  if (!texts || exp === undefined || iat === undefined) throw invalid();
  return {
    clientId: String(clientId),
    scopes: String(scope).split(' '),
    issuedAt: iat,
    validUntil: exp,
    isOwn: true,
    ...(typeof sid === 'string' && { family: sid }),
    kid,
    payload,
  };
}

const invalid = () =>
  new AccessError(
    'INVALID_TOKEN',
    'Cannot accept the access token: it must be one that this service issued and that has not expired',
  );

/**
 * Returns what follows the scheme in `Authorization: Bearer <token>`; the scheme is
 * case-insensitive. `requireTokenSyntax` checks whether it is a token.
 */
export function findBearer(header = ''): string {
  const scheme = /^bearer(?: +|$)/i.exec(header)?.[0];
  if (scheme !== undefined) return header.slice(scheme.length);
  throw new AccessError(
    'MISSING_TOKEN',
    "Cannot respond without an access token: send the header 'Authorization: Bearer <ACCESS_TOKEN>'",
  );
}

/** Returns a token if it consists of the characters of one (RFC 6750 §2.1). */
export function requireTokenSyntax(token: string): string {
  if (/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return token;
  throw new AccessError(
    'MALFORMED',
    "Cannot read the Authorization header: it must be 'Bearer', one space and one token",
  );
}

/** The error of a valid token, of a client or of an operator, without the scope of an operation. */
export const insufficientScope = (scope: string, clientId?: string, operatorId?: string): AccessError =>
  new AccessError(
    'INSUFFICIENT_SCOPE',
    `Cannot use the access token for this operation: its scope must include '${scope}'`,
    scope,
    clientId,
    operatorId,
  );
