import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import { authenticateClient } from '../auth/authenticate-client.ts';
import { clientCredentialsGrant } from '../auth/client-credentials.ts';
import { TokenError } from '../auth/error.ts';
import type { Grant } from '../auth/grant.ts';
import { refreshTokenGrant } from '../auth/refresh-token.ts';
import { parseForm, repeatedNames } from '../contract/form.ts';
import { operations } from '../contract/operations.ts';
import { type TokenErrorBody, tokenErrorTable } from '../contract/token.ts';
import { StorageError } from '../report/error.ts';
import { RequestError } from './error.ts';
import { retryAfterSeconds as storeRetrySeconds } from './send-error.ts';

const bodyBytesMax = 65_536;
const formType = 'application/x-www-form-urlencoded';
const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentialsGrant, refreshTokenGrant].map((grant) => [grant.grantType, grant]),
);

/** The token endpoint (RFC 6749 §3.2). Its steps, in their order, are the list in the handler. */
export function addTokenRoute(app: FastifyInstance, context: AuthContext): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      formType,
      { parseAs: 'buffer', bodyLimit: bodyBytesMax },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    scope.setErrorHandler(sendTokenError);
    scope.route({
      method: 'POST',
      url: operations.issueToken.path,
      handler: async (request, reply) => {
        forbidStoring(reply);
        refuseUrlParameters(request);
        const form = readForm(request);
        const grant = chooseGrant(form);
        const client = await authenticateClient(context, {
          authorization: request.headers.authorization,
          clientId: form.get('client_id'),
          clientSecret: form.get('client_secret'),
          address: request.ip,
        });
        if (!client.grants.includes(grant.grantType)) {
          throw new TokenError(
            'unauthorized_client',
            `Cannot issue a token: this client may use ${client.grants.join(', ')}`,
          );
        }
        return grant.handle(context, client, { scope: form.get('scope'), refreshToken: form.get('refresh_token') });
      },
    });
  });
}

/** Tokens and what was said about them stay out of caches (RFC 6749 §5.1). */
function forbidStoring(reply: FastifyReply): void {
  reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
}

/** Credentials in a URL end in logs (RFC 6749 §2.3.1). */
function refuseUrlParameters(request: FastifyRequest): void {
  if (request.url.includes('?')) {
    throw new TokenError(
      'invalid_request',
      'Cannot read the token request: parameters must be in the body, not in the URL',
    );
  }
}

/** The fields of the body by name; an empty one counts as absent, a repeated one is refused (RFC 6749 §3.2). */
function readForm({ body }: FastifyRequest): ReadonlyMap<string, string> {
  if (!(body instanceof Buffer))
    throw new TokenError('invalid_request', `Cannot read the token request: it must have a body of type ${formType}`);
  const { pairs, malformed } = parseForm(body.toString('latin1')); // bytes that are not percent-encoded ASCII are checked below
  if (malformed.length > 0 || body.some((byte) => byte > 0x7e || byte < 0x20)) {
    throw new TokenError('invalid_request', 'Cannot read the token request: its body must be percent-encoded UTF-8');
  }
  const [repeated] = repeatedNames(pairs);
  if (repeated !== undefined)
    throw new TokenError('invalid_request', 'Cannot read the token request: each parameter must be given only once');
  return new Map(pairs.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
}

function chooseGrant(form: ReadonlyMap<string, string>): Grant {
  const grantType = form.get('grant_type');
  if (grantType === undefined)
    throw new TokenError('invalid_request', 'Cannot issue a token: grant_type must be given');
  const grant = grants.get(grantType);
  if (grant === undefined) {
    throw new TokenError(
      'unsupported_grant_type',
      `Cannot issue a token: grant_type must be one of ${[...grants.keys()].join(', ')}`,
    );
  }
  return grant;
}

/** Answers an error of the token endpoint (RFC 6749 §5.2); every 401 carries a challenge (RFC 9110 §15.5.2). */
function sendTokenError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message, retryAfterSeconds: wait = storeRetrySeconds } = describeTokenError(error);
  const { status } = tokenErrorTable[code];
  if (status >= 500) request.log.error({ err: error, code }, 'token request failed');
  if (status === tokenErrorTable.invalid_client.status) {
    reply.header(
      'www-authenticate',
      `Basic realm="subreport", error="${code}", error_description="${message}", charset="UTF-8"`,
    );
  }
  if (waitStatuses.has(status)) reply.header('retry-after', String(wait));
  forbidStoring(reply);
  const body: TokenErrorBody = { error: code, error_description: message };
  return reply.code(status).type('application/json').send(JSON.stringify(body));
}

/** Statuses whose answer says when to try again. */
const waitStatuses: ReadonlySet<number> = new Set([
  tokenErrorTable.slow_down.status,
  tokenErrorTable.temporarily_unavailable.status,
]);

function describeTokenError(
  error: unknown,
): Pick<TokenError, 'code' | 'message'> & { retryAfterSeconds?: number | undefined } {
  if (error instanceof TokenError) return error;
  if (error instanceof RequestError) return { code: 'invalid_request', message: error.message };
  if (error instanceof StorageError && error.code !== 'UNUSABLE') {
    return { code: 'temporarily_unavailable', message: 'Cannot issue a token now: try again shortly' };
  }
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode < 500) {
    return {
      code: 'invalid_request',
      message: `Cannot read the token request: its body must be of type ${formType} and have at most ${bodyBytesMax} bytes`,
    };
  }
  return { code: 'server_error', message: 'Cannot issue a token: the service failed' };
}
