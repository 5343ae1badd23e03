import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode, TokenErrorCode } from '../../../contract/error-code.ts';
import { formatInstant } from '../../../contract/instant.ts';
import {
  ClientCredentials,
  type ConsoleSession,
  type SessionTimes,
  type SignInMethod,
} from '../../../contract/oauth/console-session.ts';
import { type AuthenticatedClient, describeClaimedId } from '../../auth/clients/authenticate-client.ts';
import { TokenError } from '../../auth/error.ts';
import { authenticateForConsole, createClientSessions, findHistoryBegin } from '../../auth/sessions/session-holder.ts';
import { accessOf } from '../../auth/verify/resource-server.ts';
import { RequestError } from '../listener/error.ts';
import { takeTurn } from '../listener/fair-queue.ts';
import { readJsonBody } from '../listener/read-body.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import { addSessionRoutes, type BrowserSessions, signInRequired } from '../listener/session-routes.ts';
import { type OauthServing, oauthFlow } from './oauth-endpoints.ts';
import { auditRequest, startTokenAudit } from './token-audit.ts';

/** What the sessions of the report's console need. */
interface ConsoleServing extends OauthServing {
  readonly publicUrl: string;
  readonly signInMethods: readonly SignInMethod[];
}

/** The sessions of the report's console, over HTTP. */
export type ConsoleSessions = BrowserSessions<AuthenticatedClient, Omit<ConsoleSession, keyof SessionTimes>>;

/** Adds the routes of a session of the report's console: sign-in with client id and secret. */
export function addConsoleSessionRoutes(app: FastifyInstance, serving: ConsoleServing): ConsoleSessions {
  const { auth, queue, publicUrl, signInMethods } = serving;
  const { origin } = new URL(publicUrl);
  return addSessionRoutes(app, {
    cookieName: 'subreport-console',
    isHttps: publicUrl.startsWith('https:'),
    ownOrigin: () => origin,
    signInMethods,
    bodyBytesMax: 8_192, // 8 bytes for each character of the longest values
    sessionsOf: (request) => createClientSessions(withinRequest(auth, request)),
    // invented ids must not keep the store from other clients
    waitTurn: (request, reply) => takeTurn(queue, oauthFlow(request.ip), request, reply),
    authenticate: (request, reply) => authenticate(serving, request, reply),
    describeError: (request, error) => describeError(request, error, signInMethods),
    identify: (request, { holder }) => {
      request.access = accessOf(holder);
    },
    onChange(request, purpose, { family }) {
      if (purpose === 'sign-out') startTokenAudit(request, { purpose });
      auditRequest(request, { outcome: 'accepted', ...(family !== null && { family }) });
    },
    async describe(client, request) {
      const begin = await findHistoryBegin(withinRequest(auth, request), client);
      const history = begin === undefined ? {} : { history_begins_at: formatInstant(begin) };
      return { client_id: client.clientId, name: client.name, tenant: client.tenant, ...history };
    },
  });
}

/** Authenticates the client of a sign-in by its secret. */
async function authenticate(
  { auth, limiter, queue }: ConsoleServing,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AuthenticatedClient> {
  startTokenAudit(request, { purpose: 'sign-in' });
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
}

/** Turns an error of the authentication for a session into a problem; returns any other error. */
function describeError(request: FastifyRequest, error: unknown, signInMethods: readonly SignInMethod[]): unknown {
  if (!(error instanceof TokenError)) return error;
  auditRequest(request, { error: error.code });
  const code = codes[error.code] ?? 'INVALID_HTTP_MESSAGE';
  if (code === 'UNAUTHORISED') return signInRequired(code, error.message, signInMethods);
  const wait = error.retryAfterSeconds;
  return new RequestError(code, error.message, wait === undefined ? {} : { headers: { 'retry-after': String(wait) } });
}

const codes: Partial<Record<TokenErrorCode, ErrorCode>> = {
  invalid_client: 'UNAUTHORISED',
  unauthorized_client: 'ACCESS_DENIED',
  invalid_scope: 'ACCESS_DENIED',
  slow_down: 'TOO_MANY_REQUESTS',
  temporarily_unavailable: 'UNAVAILABLE',
};
