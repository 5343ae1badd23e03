import type { TokenErrorCode } from '../../contract/error-code.ts';

/** An error whose code says why. */
export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A rejected token request (RFC 6749 §5.2). The message is shown to the client: it quotes no input
 * and contains neither `"` nor `\`.
 */
export class TokenError extends CodedError<TokenErrorCode> {
  override readonly name = 'TokenError';
  /** Seconds to wait before retrying, for `slow_down`. */
  readonly retryAfterSeconds: number | undefined;
  /**
   * The refresh family that was revoked because a used token of it was presented; for the log,
   * never for the client.
   */
  readonly reusedFamily: string | undefined;

  constructor(code: TokenErrorCode, message: string, retryAfterSeconds?: number, reusedFamily?: string) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
    this.reusedFamily = reusedFamily;
  }
}

/** Names the first character of each value that a file or a clipboard may have added; no other. */
export const describeStray = (values: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(values)
    .map(([name, value = '']) => {
      const at = value.search(/^ | $|[^\x20-\x7e]/u);
      const code = value.codePointAt(at)?.toString(16).toUpperCase().padStart(4, '0');
      return at < 0 ? '' : `; ${name} has U+${code} after ${at} characters`;
    })
    .join('');

/** Why a client cannot be managed as requested. The message states the violated rule. */
export class ClientError extends CodedError<'INVALID' | 'NOT_FOUND' | 'CONFLICT'> {
  override readonly name = 'ClientError';
}

/**
 * A key of the service that cannot be read, or not be replaced because another new key exists. The
 * message says what to do.
 */
export class KeyError extends CodedError<'UNREADABLE' | 'CONFLICT'> {
  override readonly name = 'KeyError';
}

/**
 * Why a request with an access token is rejected (RFC 6750 §3.1).
 * - `MISSING_TOKEN`: no `Authorization: Bearer` was sent; the challenge then has no error.
 * - `MALFORMED`: the header cannot be read as one Bearer token.
 * - `INVALID_TOKEN`: the token has expired, was not issued by us, was modified or revoked, or its
 *   client is disabled.
 * - `INSUFFICIENT_SCOPE`: the token is valid but does not allow this operation.
 */
export type AccessErrorCode = 'MISSING_TOKEN' | 'MALFORMED' | 'INVALID_TOKEN' | 'INSUFFICIENT_SCOPE';

/**
 * A rejected access token. The message is shown to the client, also in the challenge: it contains
 * neither `"` nor `\`.
 */
export class AccessError extends CodedError<AccessErrorCode> {
  override readonly name = 'AccessError';
  /** The required scope, for `INSUFFICIENT_SCOPE`. */
  readonly scope: string | undefined;
  /** The client of the token, if its signature is valid; for the log, never for the client. */
  readonly clientId: string | undefined;
  /** The operator of the token, if it is valid; for the audit log. */
  readonly operatorId: string | undefined;

  constructor(code: AccessErrorCode, message: string, scope?: string, clientId?: string, operatorId?: string) {
    super(code, message);
    this.scope = scope;
    this.clientId = clientId;
    this.operatorId = operatorId;
  }
}

/**
 * The keys of the external issuer are not available now. The token may be valid, so it is not
 * rejected. The message and its cause are for the operator, never for a client.
 */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
  /** Seconds to wait before retrying. */
  readonly retryAfterSeconds = 5;
}

/** Too many failed attempts from an address. The message is shown to the client. */
export class ThrottledError extends Error {
  override readonly name = 'ThrottledError';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Why the session of a console does not authorize a request.
 * - `MISSING`: no session was sent.
 * - `UNKNOWN`: there is none with this id, or it was removed after its end.
 * - `IDLE`: it was not used for too long.
 * - `OLD`: it reached its maximum age.
 * - `REVOKED`: it was signed out or revoked, or its client was disabled.
 */
export type SessionErrorCode = 'MISSING' | 'UNKNOWN' | 'IDLE' | 'OLD' | 'REVOKED';

/** A request without a session, or with one that has ended. The message is shown to the person. */
export class SessionError extends CodedError<SessionErrorCode> {
  override readonly name = 'SessionError';

  constructor(code: SessionErrorCode) {
    super(code, sessionMessages[code]);
  }
}

const sessionMessages: Readonly<Record<SessionErrorCode, string>> = {
  MISSING: 'Cannot respond without a session: sign in to the console',
  UNKNOWN: 'Cannot continue the session: it has ended; sign in again',
  IDLE: 'Cannot continue the session: it ended because it was not used; sign in again',
  OLD: 'Cannot continue the session: it reached its maximum age; sign in again',
  REVOKED: 'Cannot continue the session: it was signed out or revoked; sign in again',
};
