import { SessionError } from '../../auth/error.ts';
import type { SignedOut, SignInMethod } from '../../contract/console-session.ts';
import { RequestError } from './error.ts';

/** Makes a 401 of a console, which says how to sign in. */
export const signInRequired = (
  code: 'UNAUTHORISED' | 'SESSION_ENDED',
  message: string,
  signInMethods: readonly SignInMethod[],
): RequestError =>
  new RequestError(code, message, {
    // browsers show no dialog for a scheme that they do not know
    headers: { 'www-authenticate': 'Cookie realm="subreport"' },
    members: { sign_in: signInMethods },
  });

/** Turns a `SessionError` into the response to its request, and returns any other error. */
export function describeSessionError(error: unknown, signInMethods: readonly SignInMethod[]): unknown {
  if (!(error instanceof SessionError)) return error;
  return signInRequired(error.code === 'MISSING' ? 'UNAUTHORISED' : 'SESSION_ENDED', error.message, signInMethods);
}

/**
 * Makes the function that turns a `SessionError` into the state without a session, and rethrows any
 * other error. It is no 401, which browsers report as an error on every first visit.
 */
export const describeSignedOut =
  (signInMethods: readonly SignInMethod[]) =>
  (error: unknown): SignedOut => {
    if (!(error instanceof SessionError)) throw error;
    return { sign_in: signInMethods };
  };
