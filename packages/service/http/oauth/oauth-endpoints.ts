import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseForm, repeatedNames } from '../../../contract/form.ts';
import { operations } from '../../../contract/operations.ts';
import type { AuthContext } from '../../auth/auth-context.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  claimedClientId,
  describeClaimedId,
} from '../../auth/clients/authenticate-client.ts';
import { TokenError } from '../../auth/error.ts';
import { describeServer } from '../../auth/grants/metadata.ts';
import { introspectToken, revokeToken } from '../../auth/grants/token-management.ts';
import { chooseGrant, requestToken } from '../../auth/grants/token-request.ts';
import { keySetSeconds } from '../../auth/keys/key-schedule.ts';
import { networkOf } from '../../auth/network.ts';
import type { ResourceServer } from '../../auth/verify/resource-server.ts';
import { type FairQueue, takeTurn } from '../listener/fair-queue.ts';
import { acceptBodies } from '../listener/operation-routes.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import { bodyBytesMax, forbidStoring, formType, sendTokenError } from './send-token-error.ts';
import { auditRequest, startTokenAudit, type TokenAudit } from './token-audit.ts';

/** With a flow for each client id, invented ids of one network would get every turn. */
const flowsPerNetwork = 8;

/**
 * Returns the queue's flow of an OAuth request. It depends on the network, so that nobody else can
 * use up the turns of a client, and on the claimed client id.
 */
export function oauthFlow(address: string, claimedId = ''): string {
  const [byte = 0] = hash('sha256', claimedId, 'buffer');
  return `oauth ${networkOf(address)} ${byte % flowsPerNetwork}`;
}

/** A form request from an authenticated client. */
interface OauthRequest {
  /** The context within the deadline of the request. */
  readonly context: AuthContext;
  readonly form: ReadonlyMap<string, string>;
  readonly client: AuthenticatedClient;
  /** Adds fields to the log line of this request. */
  readonly audit: (more: Partial<TokenAudit>) => void;
}

/** What the OAuth endpoints need. */
export interface OauthServing {
  readonly auth: AuthContext;
  readonly limiter: Pick<RateLimiter, 'count'>;
  readonly queue: FairQueue;
}

/** An endpoint to which an OAuth client posts a form. */
interface OauthRoute {
  readonly path: string;
  /** Throws `TokenError` if the form is wrong whatever its client is. */
  readonly checkForm?: (form: ReadonlyMap<string, string>) => unknown;
  /** Returns the response body, or throws `TokenError`. */
  readonly handle: (request: OauthRequest) => Promise<object | undefined>;
}

/**
 * Adds an endpoint to which an authenticated client posts a form (RFC 6749 §3.2, RFC 7009 §2.1, RFC
 * 7662 §2.1). The handler lists its steps in order.
 */
function addOauthRoute(
  app: FastifyInstance,
  { auth, limiter, queue }: OauthServing,
  { path, checkForm, handle }: OauthRoute,
): void {
  app.register(async (scope) => {
    acceptBodies(scope, formType);
    scope.setErrorHandler(sendTokenError);
    scope.addHook('onRequest', async (request) => startTokenAudit(request));
    scope.route({
      method: 'POST',
      url: path,
      bodyLimit: bodyBytesMax,
      handler: async (request, reply) => {
        forbidStoring(reply);
        const bounded = withinRequest(auth, request);
        const identified = await identify(bounded, request, checkForm, (claimedId) =>
          takeTurn(queue, oauthFlow(request.ip, claimedId), request, reply),
        ).catch(async (error: unknown) => {
          // counts for the address, as the client is unknown
          if (error instanceof TokenError) await limiter.count(request, reply);
          throw error;
        });
        const { clientId, tenant, rateLimit } = identified.client;
        request.access = { clientId, tenant, rateLimit };
        await limiter.count(request, reply);
        const audit = (more: Partial<TokenAudit>) => auditRequest(request, more);
        const body = await handle({ context: bounded, ...identified, audit });
        audit({ outcome: 'accepted' });
        return body ?? reply.type('application/json').send('');
      },
    });
  });
}

/** Reads and checks the form of a request, and authenticates its client when it is its turn. */
async function identify(
  context: AuthContext,
  request: FastifyRequest,
  checkForm: OauthRoute['checkForm'],
  waitForTurn: (claimedId: string | undefined) => Promise<void>,
): Promise<Pick<OauthRequest, 'form' | 'client'>> {
  refuseUrlParameters(request);
  const form = readForm(request);
  const credentials = readCredentials(request, form);
  const claimedId = claimedClientId(credentials);
  auditRequest(request, {
    claimed_client_id: claimedId === undefined ? null : describeClaimedId(claimedId),
    ...(isSignIn(request, form) && { purpose: 'sign-in' }),
  });
  checkForm?.(form);
  await waitForTurn(claimedId);
  return { form, client: await authenticateClient(context, credentials) };
}

const readCredentials = ({ headers, ip }: FastifyRequest, form: ReadonlyMap<string, string>): ClientCredentials => ({
  authorization: headers.authorization,
  clientId: form.get('client_id'),
  clientSecret: form.get('client_secret'),
  address: ip,
});

/** Whether a page of this service asks for its first token: browsers set the header, not pages. */
const isSignIn = ({ headers }: FastifyRequest, form: ReadonlyMap<string, string>): boolean =>
  headers['sec-fetch-site'] === 'same-origin' && form.get('grant_type') === 'client_credentials';

/** Credentials in a URL end up in logs (RFC 6749 §2.3.1). */
function refuseUrlParameters(request: FastifyRequest): void {
  if (request.url.includes('?')) {
    throw new TokenError('invalid_request', 'Cannot read the request: parameters must be in the body, not in the URL');
  }
}

/** Maximum parameters of a form; the grants have six. */
const fieldsMax = 64;

/**
 * Returns the fields of the body by name. An empty field counts as absent, a repeated one is
 * rejected (RFC 6749 §3.2).
 */
function readForm({ body }: FastifyRequest): ReadonlyMap<string, string> {
  if (!(body instanceof Buffer))
    throw new TokenError('invalid_request', `Cannot read the request: it must have a body of type ${formType}`);
  // old clients end the body with a line break
  const text = body.toString('latin1').replace(/\r?\n$/, '');
  if (text.split('&', fieldsMax + 1).length > fieldsMax)
    throw new TokenError(
      'invalid_request',
      `Cannot read the request: its body must have at most ${fieldsMax} parameters`,
    );
  const { pairs, malformed } = parseForm(text);
  if (malformed.length > 0 || !/^[\x20-\x7e]*$/.test(text)) {
    throw new TokenError('invalid_request', 'Cannot read the request: its body must be percent-encoded UTF-8');
  }
  const [repeated] = repeatedNames(pairs);
  if (repeated !== undefined)
    throw new TokenError('invalid_request', 'Cannot read the request: each parameter must be given only once');
  return new Map(pairs.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
}

/** Adds the token endpoint (RFC 6749 §3.2). */
export function addTokenRoute(app: FastifyInstance, serving: OauthServing): void {
  addOauthRoute(app, serving, {
    path: operations.issueToken.path,
    checkForm: chooseGrant,
    handle: async ({ context: bounded, client, form, audit }) => {
      const { response, ids } = await requestToken(bounded, client, form);
      audit(ids);
      return response;
    },
  });
}

/** Adds the revocation endpoint (RFC 7009) and the introspection endpoint (RFC 7662). */
export function addTokenManagementRoutes(app: FastifyInstance, serving: OauthServing, server: ResourceServer): void {
  addOauthRoute(app, serving, {
    path: operations.revokeToken.path,
    handle: async ({ context: bounded, client, form }) => {
      await revokeToken(bounded, server, client, form.get('token'));
      return undefined;
    },
  });
  addOauthRoute(app, serving, {
    path: operations.introspectToken.path,
    handle: ({ context: bounded, client, form }) => introspectToken(bounded, server, client, form.get('token')),
  });
}

/** How long discovery documents and the key set may be cached. */
const cacheControl = `public, max-age=${keySetSeconds}`;

/**
 * Adds both discovery documents (RFC 8414 §3, OpenID Connect Discovery §4) and the key set (RFC
 * 7517 §5).
 */
export function addMetadataRoutes(app: FastifyInstance, { settings, keys }: AuthContext): void {
  for (const { path } of [operations.getOpenidConfiguration, operations.getAuthorizationServerMetadata]) {
    app.get(path, async (_request, reply) =>
      reply.header('cache-control', cacheControl).send(describeServer(settings.issuer, await keys.publicJwks())),
    );
  }
  app.get(operations.getKeySet.path, async (_request, reply) =>
    reply.header('cache-control', cacheControl).send({ keys: await keys.publicJwks() }),
  );
}
