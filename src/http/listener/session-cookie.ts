import type { FastifyReply, FastifyRequest } from 'fastify';
import { backgroundHeader } from '../../contract/console-session.ts';

/** The cookie that holds the id of a session. */
interface SessionCookie {
  /** The id that a request sends; `undefined` without one, or if it is ambiguous. */
  read(request: FastifyRequest): string | undefined;
  /** Gives the browser the id of a new session. */
  write(reply: FastifyReply, id: string): void;
  /** Removes the cookie from the browser. */
  clear(reply: FastifyReply): void;
}

/**
 * Creates the cookie of a console. Over https its name begins with `__Host-`: no other host and no
 * page without TLS can set it (RFC 6265bis §4.1.3.2). It has no expiry: the store decides.
 */
export function createSessionCookie(name: string, isHttps: boolean): SessionCookie {
  const cookie = isHttps ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  return {
    read({ headers }) {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      const values = pairs.filter((pair) => pair.startsWith(`${cookie}=`));
      // two cookies of one name: another page of this host has set one of them
      return values.length === 1 ? values[0]?.slice(cookie.length + 1) : undefined;
    },
    write: (reply, id) => void reply.header('set-cookie', `${cookie}=${id}; ${attributes}`),
    clear: (reply) => void reply.header('set-cookie', `${cookie}=; Max-Age=0; ${attributes}`),
  };
}

/** Whether a page sent a request by itself, which is no use of the session. */
export const isBackground = ({ headers }: FastifyRequest): boolean => headers[backgroundHeader] === '1';
