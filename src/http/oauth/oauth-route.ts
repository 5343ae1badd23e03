import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuthContext } from '../../auth/auth-context.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientCredentials,
  claimedClientId,
} from '../../auth/authenticate-client.ts';
import { TokenError } from '../../auth/error.ts';
import { describeClaimedId } from '../../auth/token-audit.ts';
import { parseForm, repeatedNames } from '../../contract/form.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import { bodyBytesMax, forbidStoring, formType, sendTokenError } from './send-token-error.ts';
import { addTokenAudit, auditRequest, type TokenAudit } from './token-audit.ts';

/** A form whose client is known. */
interface OauthRequest {
  /** The context within the deadline of the request. */
  readonly context: AuthContext;
  readonly form: ReadonlyMap<string, string>;
  readonly client: AuthenticatedClient;
  /** Adds to what the log line of this request says. */
  readonly audit: (more: Partial<TokenAudit>) => void;
}

/** An endpoint that an OAuth client posts a form to. */
interface OauthRoute {
  readonly path: string;
  /** Checks of the form that come before the client is authenticated. */
  readonly checkForm?: (form: ReadonlyMap<string, string>) => void;
  /** Answers with the body, or fails with `TokenError`. */
  readonly handle: (request: OauthRequest) => Promise<object | undefined>;
}

/**
 * Adds an endpoint that takes a form of an authenticated client (RFC 6749 §3.2, RFC 7009 §2.1, RFC
 * 7662 §2.1). Its steps, in their order, are the list in the handler.
 */
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
    addTokenAudit(scope);
    const countRequest = scope.hasDecorator('rateLimit') ? scope.rateLimit() : undefined;
    scope.route({
      method: 'POST',
      url: path,
      handler: async (request, reply) => {
        forbidStoring(reply);
        const bounded = withinRequest(context, request);
        const { form, client } = await identify(bounded, request, checkForm).catch(async (error: unknown) => {
          // for its address
          if (error instanceof TokenError) await countRequest?.call(scope, request, reply);
          throw error;
        });
        request.access = { clientId: client.clientId, tenant: client.tenant, expiresAt: 0 };
        await countRequest?.call(scope, request, reply);
        const audit = (more: Partial<TokenAudit>) => auditRequest(request, more);
        const answer = await handle({ context: bounded, form, client, audit });
        audit({ outcome: 'accepted' });
        return answer ?? reply.type('application/json').send('');
      },
    });
  });
}

/** Reads the form of a request, and finds out which client sent it. */
async function identify(
  context: AuthContext,
  request: FastifyRequest,
  checkForm: OauthRoute['checkForm'],
): Promise<Pick<OauthRequest, 'form' | 'client'>> {
  refuseUrlParameters(request);
  const form = readForm(request);
  const credentials = readCredentials(request, form);
  auditRequest(request, { claimed_client_id: describeClaimedId(claimedClientId(credentials)) });
  checkForm?.(form);
  return { form, client: await authenticateClient(context, credentials) };
}

const readCredentials = ({ headers, ip }: FastifyRequest, form: ReadonlyMap<string, string>): ClientCredentials => ({
  authorization: headers.authorization,
  clientId: form.get('client_id'),
  clientSecret: form.get('client_secret'),
  address: ip,
});

/** Credentials in a URL end in logs (RFC 6749 §2.3.1). */
function refuseUrlParameters(request: FastifyRequest): void {
  if (request.url.includes('?')) {
    throw new TokenError('invalid_request', 'Cannot read the request: parameters must be in the body, not in the URL');
  }
}

/**
 * The fields of the body by name; an empty one counts as absent, a repeated one is refused (RFC
 * 6749 §3.2).
 */
function readForm({ body }: FastifyRequest): ReadonlyMap<string, string> {
  if (!(body instanceof Buffer))
    throw new TokenError('invalid_request', `Cannot read the request: it must have a body of type ${formType}`);
  // old clients end the body like a line
  const text = body.toString('latin1').replace(/\r?\n$/, '');
  const { pairs, malformed } = parseForm(text);
  if (malformed.length > 0 || !/^[\x20-\x7e]*$/.test(text)) {
    throw new TokenError('invalid_request', 'Cannot read the request: its body must be percent-encoded UTF-8');
  }
  const [repeated] = repeatedNames(pairs);
  if (repeated !== undefined)
    throw new TokenError('invalid_request', 'Cannot read the request: each parameter must be given only once');
  return new Map(pairs.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
}
