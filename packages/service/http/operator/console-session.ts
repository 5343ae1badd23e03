import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  OperatorCredentials,
  type OperatorSession,
  type SessionTimes,
} from '../../../contract/oauth/console-session.ts';
import type { OperatorScope } from '../../../contract/oauth/grant.ts';
import type { OperatorSessions } from '../../auth/sessions/session-holder.ts';
import { type OperatorAccess, type OperatorGate, requireOperatorScope } from '../../auth/verify/authorize-operator.ts';
import { readJsonBody } from '../listener/read-body.ts';
import { addSessionRoutes } from '../listener/session-routes.ts';

interface SessionServing {
  readonly operatorGate: Pick<OperatorGate, 'authenticate'>;
  readonly operatorSessions: OperatorSessions;
  /** URL at which browsers reach the listener, if it is configured. */
  readonly managementUrl?: string | undefined;
  /** URL of the service for its clients. */
  readonly publicUrl: string;
}

/** Returns the operator of a request, who must have the scope if one is given. */
type AuthorizeBySession = (request: FastifyRequest, scope?: OperatorScope) => Promise<OperatorAccess>;

/**
 * Adds the routes of a session of the operator's console: sign-in with an operator's token. Returns
 * the function that authorizes a request by its cookie.
 */
export function addOperatorSessionRoutes(
  app: FastifyInstance,
  { operatorGate, operatorSessions, managementUrl, publicUrl }: SessionServing,
  isHttps: boolean,
): AuthorizeBySession {
  const sessions = addSessionRoutes<OperatorAccess, Omit<OperatorSession, keyof SessionTimes>>(app, {
    cookieName: 'subreport-operator',
    isHttps,
    ownOrigin: ({ protocol, headers }) =>
      managementUrl === undefined ? `${protocol}://${headers.host}` : new URL(managementUrl).origin,
    signInMethods: ['secret'],
    bodyBytesMax: 4_096, // a token has 47
    sessionsOf: () => operatorSessions,
    async authenticate(request) {
      const { token } = readJsonBody(request.body as Buffer | undefined, OperatorCredentials) as OperatorCredentials;
      return operatorGate.authenticate(token, request.ip);
    },
    identify: (request, session) => {
      request.operator = session.holder;
    },
    describe: ({ id, name, scopes }) => ({ operator: { id, name, scopes }, public_url: publicUrl }),
  });
  return async (request, scope) => {
    const { holder: operator } = await sessions.use(request, null);
    if (scope !== undefined) requireOperatorScope(operator, scope);
    return operator;
  };
}
