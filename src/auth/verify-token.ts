import { createHash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { AuthContext } from './auth-context.ts';
import { AccessError } from './error.ts';
import { signingAlgorithms } from './signing-key.ts';

/** What a good access token says. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UTC epoch seconds. */
  readonly expiresAt: number;
  /** The refresh family that it belongs to, when there is one. */
  readonly family: string | undefined;
  /** Every claim of it. */
  readonly payload: JWTPayload;
}

/** Tokens whose signature was checked before, so that a token is verified once and not at each request (verifying takes three quarters of a trivial request). */
const verifiedMax = 10_000;
/** How far the clocks of two processes of this service may differ. */
export const clockToleranceSeconds = 5;

interface Verdict {
  readonly claims: TokenClaims;
  readonly kid: string;
}

/**
 * Makes the check of access tokens that this service issued (RFC 9068 §4). A verdict is kept under a hash of the token, no longer than the token lives and
 * its key is trusted.
 */
export function createTokenVerifier({ keys, settings, now }: AuthContext): (token: string) => Promise<TokenClaims> {
  const verified = new Map<string, Verdict>();
  const options: JWTVerifyOptions = {
    issuer: settings.issuer,
    audience: settings.audience,
    typ: 'at+jwt',
    algorithms: [...signingAlgorithms],
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti', 'scope'],
  };
  return async (token) => {
    const hash = createHash('sha256').update(token).digest('base64url');
    const known = verified.get(hash);
    if (known !== undefined && known.claims.expiresAt + clockToleranceSeconds > now()) {
      if ((await keys.verifyingKey(known.kid)) !== undefined) return known.claims;
    }
    verified.delete(hash);
    const verdict = await verify(token, keys, { ...options, currentDate: new Date(now() * 1000) });
    if (verified.size >= verifiedMax) verified.delete(verified.keys().next().value ?? '');
    verified.set(hash, verdict);
    return verdict.claims;
  };
}

async function verify(token: string, keys: AuthContext['keys'], options: JWTVerifyOptions): Promise<Verdict> {
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
    return { claims: toClaims(payload), kid: protectedHeader.kid ?? '' };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalid();
    throw error;
  }
}

function toClaims(payload: JWTPayload): TokenClaims {
  const { client_id: clientId, scope, exp, jti, sub, sid } = payload;
  const texts = [clientId, scope, jti, sub].every((claim) => typeof claim === 'string');
  if (!texts || exp === undefined) throw invalid();
  return {
    clientId: String(clientId),
    scopes: String(scope).split(' '),
    expiresAt: exp,
    family: typeof sid === 'string' ? sid : undefined,
    payload,
  };
}

const invalid = () =>
  new AccessError(
    'INVALID_TOKEN',
    'Cannot accept the access token: it must be one that this service issued and that has not expired',
  );
