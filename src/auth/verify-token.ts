import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { AuthContext } from './auth-context.ts';
import { signingAlgorithm } from './auth-keys.ts';
import { AccessError } from './error.ts';
import { rememberVerified } from './verified-tokens.ts';

/** What a good access token says. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UTC epoch seconds. */
  readonly expiresAt: number;
  /** What an external issuer calls the scope of the report, where it has another name there. */
  readonly scopeName?: string;
}

const clockToleranceSeconds = 5;

/** Makes the check of access tokens that this service issued (RFC 9068 §4). A verdict is kept no longer than the token lives. */
export function createTokenVerifier({ keys, settings, now }: AuthContext): (token: string) => Promise<TokenClaims> {
  const options: JWTVerifyOptions = {
    issuer: settings.issuer,
    audience: settings.audience,
    typ: 'at+jwt',
    algorithms: [signingAlgorithm],
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti', 'scope'],
  };
  return rememberVerified((token) => verify(token, keys, { ...options, currentDate: new Date(now() * 1000) }), {
    toleranceSeconds: clockToleranceSeconds,
    now,
  }).verify;
}

async function verify(token: string, keys: AuthContext['keys'], options: JWTVerifyOptions): Promise<TokenClaims> {
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.signing.find((each) => each.kid === kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      options,
    );
    return toClaims(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalid();
    throw error;
  }
}

function toClaims({ client_id: clientId, scope, exp, jti, sub }: JWTPayload): TokenClaims {
  const texts = [clientId, scope, jti, sub].every((claim) => typeof claim === 'string');
  if (!texts || exp === undefined) throw invalid();
  return { clientId: String(clientId), scopes: String(scope).split(' '), expiresAt: exp };
}

const invalid = () =>
  new AccessError(
    'INVALID_TOKEN',
    'Cannot accept the access token: it must be one that this service issued and that has not expired',
  );
