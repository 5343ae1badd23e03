import { decodeJwt, errors, jwtVerify } from 'jose';
import type { Clock } from './auth-context.ts';
import { isCanonical } from './canonical-token.ts';
import type { IssuerError } from './error.ts';
import { type ExternalSettings, readExternalClaims, refusedToken } from './external-claims.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { rememberVerified } from './verified-tokens.ts';
import type { TokenClaims } from './verify-token.ts';

/** An identity provider whose access tokens are taken beside our own. */
export interface ExternalIssuer {
  readonly issuer: string;
  /**
   * What a good token of it says. Fails with `AccessError`, or with `IssuerError` when its keys
   * cannot be had now.
   */
  readonly verify: (token: string) => Promise<TokenClaims>;
  /**
   * Reads its keys before the first token comes. Never fails: whoever made the issuer is told of
   * faults.
   */
  readonly prepare: () => Promise<void>;
}

/** What the check needs beside its settings. */
interface ExternalIssuerOptions {
  readonly now: Clock;
  /**
   * Seconds of a monotonic clock, that of the process without it: how long keys are kept must not
   * depend on somebody setting the clock.
   */
  readonly elapsedSeconds?: () => number;
  /** Told of each reading of the keys that failed. */
  readonly onFault: (error: IssuerError) => void;
}

/** What clocks may differ by, in seconds (RFC 7519 §4.1.4). */
const clockToleranceSeconds = 30;

/** Makes the check of access tokens of an external issuer (RFC 9068 §4). */
export function createExternalIssuer(
  settings: ExternalSettings,
  { now, elapsedSeconds = () => performance.now() / 1000, onFault }: ExternalIssuerOptions,
): ExternalIssuer {
  const { issuer, audience, algorithms, tokenSecondsMax } = settings;
  const keys = createIssuerKeys({ issuer, elapsedSeconds, onFault, onChange: () => verified.clear() });
  const options = {
    issuer,
    audience,
    algorithms: [...algorithms],
    clockTolerance: clockToleranceSeconds,
    maxTokenAge: tokenSecondsMax,
    requiredClaims: ['exp', 'iat'],
  };
  const verify = async (token: string): Promise<TokenClaims> => {
    if (!isCanonical(token)) throw refusedToken('it must be spelled as base64url writes it');
    try {
      const currentDate = new Date(now() * 1000);
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, { ...options, currentDate });
      return readExternalClaims(settings, protectedHeader, payload);
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError)
        throw refusedToken(ruleBroken(error, settings));
      throw error;
    }
  };
  const verified = rememberVerified(verify, { toleranceSeconds: clockToleranceSeconds, now });
  return {
    issuer,
    verify(token) {
      // by tokens that are remembered too, so that a key that was withdrawn ends them
      keys.renewWhenDue();
      return verified.verify(token);
    },
    prepare: () => keys.load().catch(() => undefined),
  };
}

/**
 * Sends each token to the check of its issuer: to the external one when its `iss` is that issuer to
 * the letter, else to ours. Nothing is believed of the token by this: each check reads `iss` again
 * once it trusts the signature.
 */
export function besideOwn(
  verifyOwn: (token: string) => Promise<TokenClaims>,
  external: ExternalIssuer | undefined,
): (token: string) => Promise<TokenClaims> {
  if (external === undefined) return verifyOwn;
  return (token) => (issuerOf(token) === external.issuer ? external.verify(token) : verifyOwn(token));
}

function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // no JWT
  }
}

/**
 * What must hold and does not, for those who set up the issuer; `jose` checks claims only once the
 * signature is right.
 */
function ruleBroken(error: Error, { audience, tokenSecondsMax }: ExternalSettings): string {
  const isOld = error instanceof errors.JWTExpired && error.claim === 'iat';
  if (isOld) return `it must have been issued within the last ${tokenSecondsMax} seconds`;
  if (error instanceof errors.JWTExpired) return 'it must not have expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'it must be signed by the key of its issuer';
  const rules: Readonly<Record<string, string>> = {
    aud: `its aud must contain '${audience}'`,
    nbf: 'its nbf must not lie in the future',
  };
  return rules[error.claim] ?? `its claim ${error.claim} must be there and right`;
}
