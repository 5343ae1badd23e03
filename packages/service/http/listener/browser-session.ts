import type { FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

/** A cookie that no script can read. */
interface SessionCookie {
  /** The value that a request sends; `undefined` without one, or if it is ambiguous. */
  read(request: FastifyRequest): string | undefined;
  /** Gives the browser a new value. */
  write(reply: FastifyReply, value: string): void;
  /** Removes the cookie from the browser. */
  clear(reply: FastifyReply): void;
}

/** When browsers send a cookie, and how long they keep it. */
interface CookieRules {
  /** `Strict` by default; `Lax` also with navigations that another site begins. */
  readonly sameSite?: 'Strict' | 'Lax';
  /** By default until the browser is closed. */
  readonly maxAgeSeconds?: number;
}

/**
 * Creates a cookie of a console. Over https its name begins with `__Host-`: no other host and no
 * page without TLS can set it (RFC 6265bis §4.1.3.2). That of a session has no expiry: the store
 * decides.
 */
export function createSessionCookie(
  name: string,
  isHttps: boolean,
  { sameSite = 'Strict', maxAgeSeconds }: CookieRules = {},
): SessionCookie {
  const cookie = isHttps ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isHttps ? '; Secure' : ''}`;
  const lifetime = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return {
    read({ headers }) {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      const values = pairs.filter((pair) => pair.startsWith(`${cookie}=`));
      // two cookies of one name: another page of this host has set one of them
      return values.length === 1 ? values[0]?.slice(cookie.length + 1) : undefined;
    },
    write: (reply, value) => void reply.header('set-cookie', `${cookie}=${value}; ${attributes}${lifetime}`),
    clear: (reply) => void reply.header('set-cookie', `${cookie}=; Max-Age=0; ${attributes}`),
  };
}

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
