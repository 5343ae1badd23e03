import type { FastifyReply, FastifyRequest } from 'fastify';
import { backgroundHeader } from '../../contract/console-session.ts';

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

/** Whether a page sent a request by itself, which is no use of the session. */
export const isBackground = ({ headers }: FastifyRequest): boolean => headers[backgroundHeader] === '1';
