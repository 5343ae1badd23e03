import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { AuthContext } from './auth-context.ts';
import { isCanonical } from './canonical-token.ts';
import { AccessError } from './error.ts';
import { signingAlgorithms } from './signing-key.ts';
import { rememberVerified } from './verified-tokens.ts';

/** What a good access token says. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UTC epoch seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Whether this service issued it. */
  readonly isOwn: boolean;
  /** The refresh family of ours that it belongs to, when there is one. */
  readonly family?: string;
  /** What an external issuer calls the scope of the report, where it has another name there. */
  readonly scopeName?: string;
}

/** What a good access token of this service says. */
export interface OwnTokenClaims extends TokenClaims {
  /** The key that it was signed with. */
  readonly kid: string;
  /** Every claim of it. */
  readonly payload: JWTPayload;
}

/** How far the clocks of two processes of this service may differ. */
export const clockToleranceSeconds = 5;

/**
 * Makes the check of access tokens that this service issued (RFC 9068 §4). A verdict is kept no
 * longer than the token lives and its key is trusted.
 */
export function createTokenVerifier({ keys, settings, now }: AuthContext): (token: string) => Promise<OwnTokenClaims> {
  const options: JWTVerifyOptions = {
    issuer: settings.issuer,
    audience: settings.audience,
    typ: 'at+jwt',
    algorithms: [...signingAlgorithms],
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti', 'scope'],
  };
  return rememberVerified((token) => verify(token, keys, { ...options, currentDate: new Date(now() * 1000) }), {
    toleranceSeconds: clockToleranceSeconds,
    now,
    stillTrusted: async ({ kid }) => (await keys.verifyingKey(kid)) !== undefined,
  }).verify;
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
    expiresAt: exp,
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
