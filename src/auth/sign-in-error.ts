import { IssuerError } from './error.ts';

/**
 * Why a person could not be signed in at the external issuer.
 * - `REFUSED`: the issuer responded with an error, such as `access_denied`.
 * - `INVALID`: the response does not belong to this sign-in, or cannot be verified.
 * - `UNAVAILABLE`: the issuer cannot be reached, or rejects the credentials of the console.
 * - `NO_CLIENT`, `SEVERAL_CLIENTS`: the ID token must name exactly one client of the issuer.
 */
export type SignInErrorCode = 'REFUSED' | 'INVALID' | 'UNAVAILABLE' | 'NO_CLIENT' | 'SEVERAL_CLIENTS';

/** A failed sign-in. The message is for the log; it contains no token and no code. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly code: SignInErrorCode;

  constructor(code: SignInErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What openid-client throws, as far as it decides the code. */
interface ProtocolError {
  readonly code?: string;
  /** The error code of OAuth that the issuer sent. */
  readonly error?: string;
  readonly cause?: unknown;
}

/** Codes of openid-client for an issuer that does not respond as expected. */
const unavailable: readonly unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
];

/** Turns an error of openid-client, or of a request to the issuer, into a `SignInError`. */
export function toSignInError(error: unknown): SignInError {
  const { code, error: reported, cause } = error as ProtocolError;
  // the issuer chose it among the codes of RFC 6749 §4.1.2.1, but it arrived in a URL
  const shown = /^[a-z_]{1,64}$/.test(reported ?? '') ? reported : 'an unknown error';
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return new SignInError('REFUSED', `the issuer responded with ${shown}`);
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && reported === 'invalid_grant')
    return new SignInError('INVALID', 'the issuer does not accept the code');
  if (code === 'OAUTH_RESPONSE_BODY_ERROR')
    return new SignInError('UNAVAILABLE', `the token endpoint of the issuer responded with ${shown}`);
  const isUnavailable =
    [error, cause].some((each) => each instanceof IssuerError) || isFailedFetch(error) || unavailable.includes(code);
  // without its other members: they can hold the tokens of a response
  const message = [error, cause].map((each) => (each instanceof Error ? each.message : undefined));
  return new SignInError(isUnavailable ? 'UNAVAILABLE' : 'INVALID', message.filter(Boolean).join(': '));
}

/** Whether `fetch` itself failed: it throws a `TypeError` with the cause. */
const isFailedFetch = (error: unknown): boolean => error instanceof TypeError && error.cause !== undefined;
