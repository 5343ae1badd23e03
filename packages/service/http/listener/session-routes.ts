import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatInstant } from '../../../contract/instant.ts';
import {
  backgroundHeader,
  consoleOperations,
  type SessionTimes,
  type SignedOut,
  type SignInMethod,
} from '../../../contract/oauth/console-session.ts';
import { SessionError } from '../../auth/error.ts';
import type { Session, Sessions } from '../../auth/sessions/session.ts';
import { createSessionCookie, requireOwnPage } from './browser-session.ts';
import { RequestError } from './error.ts';
import { acceptBodies } from './operation-routes.ts';

/** What differs between the sessions of the two consoles. */
interface SessionConsole<Holder, Description extends object> {
  readonly cookieName: string;
  /** Whether browsers reach the listener over TLS. */
  readonly isHttps: boolean;
  /** The origin of the console, such as `https://reports.example.com`. */
  readonly ownOrigin: (request: FastifyRequest) => string;
  readonly signInMethods: readonly SignInMethod[];
  /** Longest body of a sign-in in bytes. */
  readonly bodyBytesMax: number;
  /** The sessions, within the deadline of a request. */
  readonly sessionsOf: (request: FastifyRequest) => Sessions<Holder>;
  /** Resolves when it is the turn of a request to look up its session. */
  readonly waitTurn?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Returns the holder whose secret is in the body of a sign-in. */
  readonly authenticate: (request: FastifyRequest, reply: FastifyReply) => Promise<Holder>;
  /** Turns an error of a sign-in into that of the response. */
  readonly describeError?: (request: FastifyRequest, error: unknown) => unknown;
  /** Notes the holder of a request, for the log and the handlers. */
  readonly identify: (request: FastifyRequest, session: Session<Holder>) => void;
  /** Notes for the audit log that a session has begun or ended by a request. */
  readonly onChange?: (request: FastifyRequest, change: 'sign-in' | 'sign-out', session: Session<Holder>) => void;
  /** The members of the response that describe the holder. */
  readonly describe: (holder: Holder, request: FastifyRequest) => Description | Promise<Description>;
}

const describeTimes = ({ idleSeconds, expiresAt, endsAt }: Session<unknown>): SessionTimes => ({
  idle_seconds: idleSeconds,
  expires_at: formatInstant(expiresAt),
  ends_at: formatInstant(endsAt),
});

/** The sessions of a console, over HTTP. */
export interface BrowserSessions<Holder, Description extends object> {
  /**
   * Returns the session of a request by its cookie. `reply` is `null` where requests wait for no
   * turn. Throws `RequestError`.
   */
  readonly use: (request: FastifyRequest, reply: FastifyReply | null) => Promise<Session<Holder>>;
  /**
   * Begins a session of an authenticated holder: sets its cookie, ends the previous session of the
   * browser, and returns the body of the response.
   */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, holder: Holder) => Promise<Description & SessionTimes>;
}

/**
 * Adds the routes of a session: sign-in with a secret, its state, and sign-out. Returns the
 * sessions for the routes that need one.
 */
export function addSessionRoutes<Holder, Description extends object>(
  app: FastifyInstance,
  site: SessionConsole<Holder, Description>,
): BrowserSessions<Holder, Description> {
  const { ownOrigin, signInMethods, sessionsOf, identify, onChange } = site;
  const cookie = createSessionCookie(site.cookieName, site.isHttps);

  /** Returns the session id of a request, when it is its turn to look it up. */
  const readId = async (request: FastifyRequest, reply: FastifyReply | null): Promise<string | undefined> => {
    requireOwnPage(request, ownOrigin(request));
    const id = cookie.read(request);
    if (id !== undefined && reply !== null) await site.waitTurn?.(request, reply);
    return id;
  };

  const use = async (request: FastifyRequest, reply: FastifyReply | null): Promise<Session<Holder>> => {
    const id = await readId(request, reply);
    // a request that a page sends by itself does not count as a use of the session
    const isBackground = request.headers[backgroundHeader] === '1';
    const session = await sessionsOf(request)
      .use(id, isBackground)
      .finally(() => request.endTurn?.());
    identify(request, session);
    return session;
  };

  const describe = async (session: Session<Holder>, request: FastifyRequest): Promise<Description & SessionTimes> => ({
    ...(await site.describe(session.holder, request)),
    ...describeTimes(session),
  });

  const begin: BrowserSessions<Holder, Description>['begin'] = async (request, reply, holder) => {
    const session = await sessionsOf(request).begin(holder, cookie.read(request));
    cookie.write(reply, session.id);
    identify(request, session);
    onChange?.(request, 'sign-in', session);
    return describe(session, request);
  };

  const signIn = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    requireOwnPage(request, ownOrigin(request));
    const body = await site
      .authenticate(request, reply)
      .then((holder) => begin(request, reply, holder))
      .catch((error: unknown) => {
        throw site.describeError?.(request, error) ?? error;
      });
    return reply.code(201).send(body);
  };

  /** Without a session it is no 401, which browsers report as an error on every first visit. */
  const getState = (request: FastifyRequest, reply: FastifyReply): Promise<object> =>
    use(request, reply).then(
      (session) => describe(session, request),
      (error: unknown) => {
        if (error instanceof SessionError) return { sign_in: signInMethods } satisfies SignedOut;
        throw error;
      },
    );

  const signOut = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const id = await readId(request, reply);
    const ended = id === undefined ? undefined : await sessionsOf(request).end(id, request.ip);
    cookie.clear(reply);
    if (ended !== undefined) {
      identify(request, ended);
      onChange?.(request, 'sign-out', ended);
    }
    return reply.code(204).send();
  };

  app.register(async (scope) => {
    acceptBodies(scope);
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    const { path: url } = consoleOperations.signIn;
    scope.route({ method: 'POST', url, bodyLimit: site.bodyBytesMax, handler: signIn });
    scope.route({ method: 'GET', url, handler: getState });
    scope.route({ method: 'DELETE', url, handler: signOut });
  });
  const refuse = (error: unknown): never => {
    if (!(error instanceof SessionError)) throw error;
    throw signInRequired(error.code === 'MISSING' ? 'UNAUTHORISED' : 'SESSION_ENDED', error.message, signInMethods);
  };
  return { use: (request, reply) => use(request, reply).catch(refuse), begin };
}

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
