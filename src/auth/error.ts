import type { TokenErrorCode } from '../contract/token.ts';

/**
 * A refused token request (RFC 6749 §5.2). The message is shown to the client: it names no input
 * and holds neither `"` nor `\`.
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly code: TokenErrorCode;
  /** Seconds to wait before trying again, for `slow_down`. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * The refresh family that was revoked because a used token of it was presented; for the log,
   * never for the client.
   */
  readonly reusedFamily: string | undefined;

  constructor(code: TokenErrorCode, message: string, retryAfterSeconds?: number, reusedFamily?: string) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.reusedFamily = reusedFamily;
  }
}

/** Keys of the service that cannot be read or replaced. The message says what to do. */
export class KeyError extends Error {
  override readonly name = 'KeyError';
}

/**
 * Why a request with an access token is refused (RFC 6750 §3.1).
 * - `MISSING_TOKEN`: no `Authorization: Bearer` was sent; the challenge carries no error then.
 * - `MALFORMED`: the header cannot be read as one Bearer token.
 * - `INVALID_TOKEN`: the token has ended, is not ours, was changed, or its client is no longer
 *   allowed in.
 * - `INSUFFICIENT_SCOPE`: the token is good but does not allow this operation.
 */
export type AccessErrorCode = 'MISSING_TOKEN' | 'MALFORMED' | 'INVALID_TOKEN' | 'INSUFFICIENT_SCOPE';

/**
 * A refused access token. The message is shown to the client, in the challenge too: it holds
 * neither `"` nor `\`.
 */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly code: AccessErrorCode;
  /** The scope that is needed, for `INSUFFICIENT_SCOPE`. */
  readonly scope: string | undefined;
  /** The client of the token, where its signature is right; for the log, never for the client. */
  readonly clientId: string | undefined;

  constructor(code: AccessErrorCode, message: string, scope?: string, clientId?: string) {
    super(message);
    this.code = code;
    this.scope = scope;
    this.clientId = clientId;
  }
}

/**
 * What must be known of the external issuer to judge a token cannot be had now; the token may be
 * good, so this is no refusal. The message and its cause are for the operator, never for a client.
 */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
  /** Seconds to wait before trying again. */
  readonly retryAfterSeconds = 5;
}
