import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AuthenticatedClient, describeClaimedId } from '../../auth/clients/authenticate-client.ts';
import { TokenError } from '../../auth/error.ts';
import {
  authenticateForConsole,
  beginConsoleSession,
  type ConsoleSession,
  endConsoleSession,
  useConsoleSession,
} from '../../auth/sessions/console-session.ts';
import type { Access } from '../../auth/verify/resource-server.ts';
import type { ErrorCode, TokenErrorCode } from '../../contract/error-code.ts';
import { formatInstant } from '../../contract/instant.ts';
import {
  ClientCredentials,
  type ConsoleSession as ConsoleSessionBody,
  consoleOperations,
  type SignedOut,
  type SignInMethod,
} from '../../contract/oauth/console-session.ts';
import {
  createSessionCookie,
  describeSessionError,
  describeSignedOut,
  isBackground,
  requireOwnPage,
  signInRequired,
} from '../listener/browser-session.ts';
import { RequestError } from '../listener/error.ts';
import { acceptJsonBodies, readJsonBody } from '../listener/read-body.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import { takeTurn } from '../listener/take-turn.ts';
import { type OauthServing, oauthFlow } from './oauth-endpoints.ts';
import { auditRequest, startTokenAudit } from './token-audit.ts';

/** What the sessions of the report's console need. */
interface ConsoleServing extends OauthServing {
  readonly publicUrl: string;
  readonly signInMethods: readonly SignInMethod[];
}

/** The sessions of the report's console, over HTTP. */
export interface ConsoleSessions {
  /** Returns the client of a request by its cookie. Throws `RequestError`. */
  readonly authorize: (request: FastifyRequest, reply: FastifyReply) => Promise<Access>;
  /**
   * Begins a session of an authenticated client: sets its cookie, ends the previous session of the
   * browser, and returns the body of the response.
   */
  readonly begin: (
    request: FastifyRequest,
    reply: FastifyReply,
    client: AuthenticatedClient,
  ) => Promise<ConsoleSessionBody>;
}

/** Longest body of a sign-in in bytes: 8 bytes for each character of the longest values. */
const bodyBytesMax = 8_192;

/**
 * Adds the routes of a session: sign-in with client id and secret, its state, and sign-out. Returns
 * the sessions for the routes that need one.
 */
export function addConsoleSessionRoutes(app: FastifyInstance, serving: ConsoleServing): ConsoleSessions {
  const { auth, limiter, queue, publicUrl, signInMethods } = serving;
  const ownOrigin = new URL(publicUrl).origin;
  const cookie = createSessionCookie('subreport-console', publicUrl.startsWith('https:'));

  /** Returns the session id of a request, when it is its turn to look it up. */
  const readId = async (request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> => {
    requireOwnPage(request, ownOrigin);
    const id = cookie.read(request);
    // invented ids must not keep the store from other clients
    if (id !== undefined) await takeTurn(queue, oauthFlow(request.ip), request, reply);
    return id;
  };

  const use = async (request: FastifyRequest, reply: FastifyReply): Promise<ConsoleSession> => {
    const id = await readId(request, reply);
    const using = useConsoleSession(withinRequest(auth, request), id, isBackground(request));
    const session = await using.finally(() => request.endTurn?.());
    request.access = accessOf(session);
    return session;
  };

  const getState = async (request: FastifyRequest, reply: FastifyReply): Promise<ConsoleSessionBody | SignedOut> =>
    use(request, reply).then((session) => describe(session, auth.settings), describeSignedOut(signInMethods));

  const authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<AuthenticatedClient> => {
    const credentials = readJsonBody(request.body as Buffer | undefined, ClientCredentials) as ClientCredentials;
    const { client_id: clientId, client_secret: clientSecret } = credentials;
    auditRequest(request, { claimed_client_id: describeClaimedId(clientId) });
    await takeTurn(queue, oauthFlow(request.ip, clientId), request, reply);
    const context = withinRequest(auth, request);
    const client = await authenticateForConsole(context, { clientId, clientSecret, address: request.ip }).catch(
      async (error: unknown) => {
        await limiter.count(request, reply); // counts for the address, as the client is unknown
        throw error;
      },
    );
    request.access = accessOf(client);
    await limiter.count(request, reply);
    return client;
  };

  const begin: ConsoleSessions['begin'] = async (request, reply, client) => {
    const { id, session } = await beginConsoleSession(withinRequest(auth, request), client, cookie.read(request));
    cookie.write(reply, id);
    auditRequest(request, { outcome: 'accepted', family: session.family });
    return describe(session, auth.settings);
  };

  const signIn = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    requireOwnPage(request, ownOrigin);
    startTokenAudit(request, { purpose: 'sign-in' });
    const session = await authenticate(request, reply)
      .then((client) => begin(request, reply, client))
      .catch(rejectSession(request, signInMethods));
    return reply.code(201).send(session);
  };

  const signOut = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const id = await readId(request, reply);
    const ended = id === undefined ? undefined : await endConsoleSession(withinRequest(auth, request), id);
    cookie.clear(reply);
    if (ended !== undefined) {
      request.access = accessOf(ended);
      startTokenAudit(request, { purpose: 'sign-out', outcome: 'accepted', family: ended.family });
    }
    return reply.code(204).send();
  };

  app.register(async (scope) => {
    acceptJsonBodies(scope);
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    const { path: url } = consoleOperations.signIn;
    scope.route({ method: 'POST', url, bodyLimit: bodyBytesMax, handler: signIn });
    scope.route({ method: 'GET', url, handler: getState });
    scope.route({ method: 'DELETE', url, handler: signOut });
  });
  const refuse = (request: FastifyRequest) => rejectSession(request, signInMethods);
  return { authorize: (request, reply) => use(request, reply).then(accessOf, refuse(request)), begin };
}

const accessOf = ({ clientId, tenant, rateLimit }: Access): Access => ({ clientId, tenant, rateLimit });

const describe = (
  { clientId, tenant, expiresAt, endsAt }: ConsoleSession,
  { sessionIdleSeconds }: OauthServing['auth']['settings'],
): ConsoleSessionBody => ({
  client_id: clientId,
  tenant,
  idle_seconds: sessionIdleSeconds,
  expires_at: formatInstant(expiresAt),
  ends_at: formatInstant(endsAt),
});

/**
 * Makes the function that turns an error of a session, or of the authentication for one, into a
 * problem, and rethrows any other error.
 */
const rejectSession =
  (request: FastifyRequest, signInMethods: readonly SignInMethod[]) =>
  (error: unknown): never => {
    if (!(error instanceof TokenError)) throw describeSessionError(error, signInMethods);
    auditRequest(request, { error: error.code });
    const code = codes[error.code] ?? 'INVALID_HTTP_MESSAGE';
    if (code === 'UNAUTHORISED') throw signInRequired(code, error.message, signInMethods);
    throw new RequestError(code, error.message, { headers: waitOf(error) });
  };

const codes: Partial<Record<TokenErrorCode, ErrorCode>> = {
  invalid_client: 'UNAUTHORISED',
  unauthorized_client: 'ACCESS_DENIED',
  invalid_scope: 'ACCESS_DENIED',
  slow_down: 'TOO_MANY_REQUESTS',
  temporarily_unavailable: 'UNAVAILABLE',
};

const waitOf = ({ retryAfterSeconds }: TokenError): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
