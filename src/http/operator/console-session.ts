import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperatorSession, OperatorSessions } from '../../auth/sessions/operator-session.ts';
import { type OperatorAccess, requireOperatorScope } from '../../auth/verify/authorize-operator.ts';
import { formatInstant } from '../../contract/instant.ts';
import {
  consoleOperations,
  OperatorCredentials,
  type OperatorSession as OperatorSessionBody,
} from '../../contract/oauth/console-session.ts';
import type { OperatorScope } from '../../contract/oauth/grant.ts';
import {
  createSessionCookie,
  describeSessionError,
  describeSignedOut,
  isBackground,
  requireOwnPage,
} from '../listener/browser-session.ts';
import { acceptJsonBodies, readJsonBody } from '../listener/read-body.ts';

/** Longest body of a sign-in in bytes; a token has 47. */
const bodyBytesMax = 4_096;

const signInMethods = ['secret'] as const;

interface SessionServing {
  readonly sessions: OperatorSessions;
  /** Whether browsers reach the listener over TLS. */
  readonly isHttps: boolean;
  /** URL at which they do, if it is configured. */
  readonly managementUrl: string | undefined;
}

/** Returns the operator of a request, who must have the scope if one is given. */
type AuthorizeBySession = (request: FastifyRequest, scope?: OperatorScope) => Promise<OperatorAccess>;

/**
 * Adds the routes of a session: sign-in with an operator's token, its state, and sign-out. Returns
 * the function that authorizes a request by its cookie.
 */
export function addOperatorSessionRoutes(
  app: FastifyInstance,
  { sessions, isHttps, managementUrl }: SessionServing,
): AuthorizeBySession {
  const cookie = createSessionCookie('subreport-operator', isHttps);
  const ownOrigin = ({ protocol, headers }: FastifyRequest): string =>
    managementUrl === undefined ? `${protocol}://${headers.host}` : new URL(managementUrl).origin;

  const use = async (request: FastifyRequest): Promise<OperatorSession> => {
    requireOwnPage(request, ownOrigin(request));
    const session = await sessions.use(cookie.read(request), isBackground(request));
    request.operator = session.operator;
    return session;
  };

  const signIn = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    requireOwnPage(request, ownOrigin(request));
    const { token } = readJsonBody(request.body as Buffer | undefined, OperatorCredentials) as OperatorCredentials;
    const { id, session } = await sessions.begin(token, cookie.read(request), request.ip);
    request.operator = session.operator;
    cookie.write(reply, id);
    return reply.code(201).send(describe(session));
  };

  const signOut = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    requireOwnPage(request, ownOrigin(request));
    const id = cookie.read(request);
    const ended = id === undefined ? undefined : await sessions.end(id, request.ip);
    if (ended !== undefined) request.operator = ended.operator;
    cookie.clear(reply);
    return reply.code(204).send();
  };

  const describe = ({ operator: { id, name, scopes }, expiresAt, endsAt }: OperatorSession): OperatorSessionBody => ({
    operator: { id, name, scopes },
    idle_seconds: sessions.limits.sessionIdleSeconds,
    expires_at: formatInstant(expiresAt),
    ends_at: formatInstant(endsAt),
  });

  app.register(async (scope) => {
    acceptJsonBodies(scope);
    scope.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
    const { path: url } = consoleOperations.signIn;
    scope.route({ method: 'POST', url, bodyLimit: bodyBytesMax, handler: signIn });
    scope.route({
      method: 'GET',
      url,
      handler: (request) => use(request).then(describe, describeSignedOut(signInMethods)),
    });
    scope.route({ method: 'DELETE', url, handler: signOut });
  });
  return async (request, scope) => {
    const { operator } = await use(request).catch((error: unknown) => {
      throw describeSessionError(error, signInMethods);
    });
    if (scope !== undefined) requireOperatorScope(operator, scope);
    return operator;
  };
}
