/** Whether browsers that used https must keep using it (RFC 6797). */
export interface TransportPolicy {
  readonly isHttps: boolean;
}

/**
 * Returns the headers of every response, including errors. HTML pages override
 * `content-security-policy`; any other response may load nothing, run nothing and not be framed,
 * should a browser ever display it.
 */
export function defaultHeaders({ isHttps }: TransportPolicy): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    ...(isHttps && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
}
