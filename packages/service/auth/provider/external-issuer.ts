import { errors, jwtVerify } from 'jose';
import type { Clock } from '../auth-context.ts';
import type { IssuerError } from '../error.ts';
import type { ExternalIssuer } from '../verify/resource-server.ts';
import { isCanonical, type TokenClaims } from '../verify/verify-token.ts';
import {
  type ExternalSettings,
  externalAlgorithms,
  externalTokenSecondsMax,
  externalToleranceSeconds,
  readExternalClaims,
  refusedToken,
} from './external-claims.ts';
import { createIssuerKeys } from './issuer-keys.ts';

/** Dependencies of the check. */
interface ExternalIssuerOptions {
  readonly now: Clock;
  /**
   * A monotonic clock in seconds, by default that of the process: changing the system clock must
   * not change how long keys are cached.
   */
  readonly elapsedSeconds?: () => number;
  /** Called for each failed fetch of the keys. */
  readonly onFault: (error: IssuerError) => void;
}

/** Makes the check of access tokens of an external issuer (RFC 9068 §4). */
export function createExternalIssuer(
  settings: ExternalSettings,
  { now, elapsedSeconds = () => performance.now() / 1000, onFault }: ExternalIssuerOptions,
): ExternalIssuer {
  const { issuer, audience } = settings;
  const keys = createIssuerKeys({ issuer, elapsedSeconds, onFault });
  const options = {
    issuer,
    audience,
    algorithms: [...externalAlgorithms],
    clockTolerance: externalToleranceSeconds,
    maxTokenAge: externalTokenSecondsMax,
    requiredClaims: ['exp', 'iat'],
  };
  const verify = async (token: string): Promise<TokenClaims> => {
    keys.renewWhenDue();
    if (!isCanonical(token)) throw refusedToken('it must be canonical base64url');
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
  return {
    issuer,
    verify,
    keyMark() {
      keys.renewWhenDue();
      return keys.mark();
    },
    prepare: () => keys.load().catch(() => undefined),
  };
}

/**
 * Returns the rule that a token breaks, for the operator who configures the issuer; `jose` checks
 * claims only after the signature.
 */
function ruleBroken(error: Error, { audience }: ExternalSettings): string {
  const isOld = error instanceof errors.JWTExpired && error.claim === 'iat';
  if (isOld) return `it must have been issued within the last ${externalTokenSecondsMax} seconds`;
  if (error instanceof errors.JWTExpired) return 'it must not have expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'it must be signed by the key of its issuer';
  const rules: Readonly<Record<string, string>> = {
    aud: `its aud must contain '${audience}'`,
    nbf: 'its nbf must not be in the future',
  };
  return rules[error.claim] ?? `its claim ${error.claim} must be present and valid`;
}
