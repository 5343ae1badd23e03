/** Whether browsers that reached the service over https must keep to it (RFC 6797). */
export interface TransportPolicy {
  readonly isHttps: boolean;
}

/**
 * The header fields of every response, errors included. A response that is a page has a `content-
 * security-policy` of its own in their place; all others may load nothing, run nothing and be
 * framed by nobody, should a browser ever show one.
 */
export function defaultHeaders({ isHttps }: TransportPolicy): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    ...(isHttps && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
}
