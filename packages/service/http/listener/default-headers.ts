import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Name of the header that traces a request (`spec.md` "Request headers"), as responses spell it.
 */
export const correlationHeader = 'X-Correlation-ID';

/** At most 256 printable ASCII characters; anything else would not be safe in a log. */
const pattern = /^[\x20-\x7e]{1,256}$/;

/** Returns the correlation id of a request, or a new one if it has none or an invalid one. */
export function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id'];
  return typeof given === 'string' && pattern.test(given) ? given : randomUUID();
}

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
