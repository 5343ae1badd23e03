import type { FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

/** Methods that change nothing (RFC 9110 §9.2.1). */
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Rejects a request with a session cookie that a page of another origin may have sent. Browsers set
 * `Sec-Fetch-Site`, not pages; those that do not know it set `Origin` for every unsafe method.
 * `ownOrigin` is that of the service, such as `https://reports.example.com`.
 */
export function requireOwnPage({ method, headers }: FastifyRequest, ownOrigin: string): void {
  const site = headers['sec-fetch-site'];
  const isSafe = safeMethods.includes(method);
  // 'none': a person typed the URL
  const isOwn =
    site === undefined ? isSafe || headers.origin === ownOrigin : site === 'same-origin' || (site === 'none' && isSafe);
  if (isOwn) return;
  throw new RequestError(
    'ACCESS_DENIED',
    `Cannot accept the request: a page of the console must send it, with the header 'origin: ${ownOrigin}' or 'sec-fetch-site: same-origin'`,
  );
}
