/** Longest client id that is logged whole. */
const idLengthMax = 255;

/** How a generated secret, an access token, a refresh token or an operator's token begins. */
const secretLike = /^(?:[\w-]{43}$|eyJ|[\w-]{22}\.\d|sro_)/;

/**
 * Returns a client id that is not known to exist for the audit log: truncated, and without what
 * looks like a secret, a token or an email address.
 */
export function describeClaimedId(clientId: string): string {
  if (clientId.includes('@')) return '(omitted: it looks like an email address)';
  return secretLike.test(clientId) ? '(omitted: it looks like a secret)' : clientId.slice(0, idLengthMax);
}
