import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import { type AuthenticatedClient, authenticateClient } from '../auth/authenticate-client.ts';
import { TokenError } from '../auth/error.ts';
import { parseForm, repeatedNames } from '../contract/form.ts';
import { withinRequest } from './request-deadline.ts';
import { bodyBytesMax, forbidStoring, formType, sendTokenError } from './send-token-error.ts';

/** A form whose client is known. */
export interface OauthRequest {
  /** The context within the deadline of the request. */
  readonly context: AuthContext;
  readonly form: ReadonlyMap<string, string>;
  readonly client: AuthenticatedClient;
}

/** An endpoint that an OAuth client posts a form to. */
export interface OauthRoute {
  readonly path: string;
  /** Checks of the form that come before the client is authenticated. */
  readonly checkForm?: (form: ReadonlyMap<string, string>) => void;
  /** Answers with the body, or fails with `TokenError`. */
  readonly handle: (request: OauthRequest) => Promise<object | undefined>;
}

/** Adds an endpoint that takes a form of an authenticated client (RFC 6749 §3.2, RFC 7009 §2.1, RFC 7662 §2.1). Its steps, in their order, are the list in the handler. */
export function addOauthRoute(
  app: FastifyInstance,
  context: AuthContext,
  { path, checkForm, handle }: OauthRoute,
): void {
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
      url: path,
      handler: async (request, reply) => {
        forbidStoring(reply);
        refuseUrlParameters(request);
        const form = readForm(request);
        checkForm?.(form);
        const bounded = withinRequest(context, request);
        const client = await authenticateClient(bounded, {
          authorization: request.headers.authorization,
          clientId: form.get('client_id'),
          clientSecret: form.get('client_secret'),
          address: request.ip,
        });
        return (await handle({ context: bounded, form, client })) ?? reply.type('application/json').send('');
      },
    });
  });
}

/** Credentials in a URL end in logs (RFC 6749 §2.3.1). */
function refuseUrlParameters(request: FastifyRequest): void {
  if (request.url.includes('?')) {
    throw new TokenError('invalid_request', 'Cannot read the request: parameters must be in the body, not in the URL');
  }
}

/** The fields of the body by name; an empty one counts as absent, a repeated one is refused (RFC 6749 §3.2). */
function readForm({ body }: FastifyRequest): ReadonlyMap<string, string> {
  if (!(body instanceof Buffer))
    throw new TokenError('invalid_request', `Cannot read the request: it must have a body of type ${formType}`);
  const { pairs, malformed } = parseForm(body.toString('latin1')); // bytes that are not percent-encoded ASCII are checked below
  if (malformed.length > 0 || body.some((byte) => byte > 0x7e || byte < 0x20)) {
    throw new TokenError('invalid_request', 'Cannot read the request: its body must be percent-encoded UTF-8');
  }
  const [repeated] = repeatedNames(pairs);
  if (repeated !== undefined)
    throw new TokenError('invalid_request', 'Cannot read the request: each parameter must be given only once');
  return new Map(pairs.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
}
