import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthContext } from '../../auth/auth-context.ts';
import { TokenError } from '../../auth/error.ts';
import { findPersonClient } from '../../auth/find-person-client.ts';
import type { ProviderSignIn } from '../../auth/provider-sign-in.ts';
import { SignInError } from '../../auth/sign-in-error.ts';
import { consoleOperations } from '../../contract/console-session.ts';
import { RequestError } from '../listener/error.ts';
import { queryOf } from '../listener/query-of.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import { createSessionCookie } from '../listener/session-cookie.ts';
import type { ConsoleSessions } from './console-session.ts';
import { isReturnPath } from './return-path.ts';
import { sendSignInPage } from './sign-in-page.ts';
import { auditRequest, startTokenAudit } from './token-audit.ts';

/** What the sign-in at the identity provider needs. */
interface ProviderRoutes {
  readonly auth: AuthContext;
  readonly limiter: Pick<RateLimiter, 'countCostly'>;
  readonly provider: ProviderSignIn;
  readonly sessions: ConsoleSessions;
  readonly publicUrl: string;
}

/** Time in seconds for a person to sign in at the identity provider. */
const transactionSeconds = 600;

/** A sign-in that has begun; only the browser keeps it. */
interface Transaction {
  /** 256 random bits, from which `state`, `nonce` and the code verifier are derived. */
  readonly secret: string;
  readonly returnTo: string;
}

/** Adds sign-in and sign-out at the identity provider, and the redirect URI of the former. */
export function addProviderSignIn(app: FastifyInstance, routes: ProviderRoutes): void {
  const { provider, publicUrl } = routes;
  const consoleUrl = `${publicUrl}/console`;
  const cookie = createSessionCookie('subreport-sign-in', publicUrl.startsWith('https:'), {
    sameSite: 'Lax', // the redirect from the provider is a navigation that another site began
    maxAgeSeconds: transactionSeconds,
  });

  app.get(consoleOperations.signInAtProvider.path, async (request, reply) => {
    const returnTo = readReturnPath(queryOf(request));
    reply.header('cache-control', 'no-store');
    // only the person begins a session, never a page of another site
    if (isFromOtherSite(request)) return reply.redirect(publicUrl + returnTo, 303);
    const secret = randomBytes(32).toString('base64url');
    try {
      const url = await provider.authorizationUrl(secret);
      cookie.write(reply, `${secret}.${Buffer.from(returnTo).toString('base64url')}`);
      return reply.redirect(url, 303);
    } catch (error) {
      return explain(error, request, reply, { consoleUrl, returnTo });
    }
  });

  app.get(consoleOperations.returnFromProvider.path, async (request, reply) => {
    startTokenAudit(request, { purpose: 'sign-in' });
    const transaction = readTransaction(cookie.read(request));
    const returnTo = transaction?.returnTo ?? '/console/';
    reply.header('cache-control', 'no-store');
    cookie.clear(reply);
    try {
      if (transaction === undefined) throw new SignInError('INVALID', 'no sign-in has begun in this browser');
      await signIn(routes, request, reply, transaction);
      // every page is the same for everyone, so it does not matter that browsers send no
      // SameSite=Strict cookie with this navigation, which another site began
      return reply.redirect(publicUrl + returnTo, 303);
    } catch (error) {
      return explain(error, request, reply, { consoleUrl, returnTo });
    }
  });

  app.get(consoleOperations.signOutAtProvider.path, async (_request, reply) => {
    const url = await provider.endSessionUrl().catch(() => undefined);
    return reply.header('cache-control', 'no-store').redirect(url ?? `${consoleUrl}/`, 303);
  });
}

/** Begins a session of the client that the person's ID token names. */
async function signIn(
  { auth, limiter, provider, sessions }: ProviderRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
  { secret }: Transaction,
): Promise<void> {
  // anyone can make up a transaction, and each one is a request to the provider
  await limiter.countCostly(request, reply, 'sign-ins');
  const { subject, clientIds } = await provider.finish(queryOf(request), secret);
  auditRequest(request, { subject });
  const client = await findPersonClient(withinRequest(auth, request).store, clientIds);
  const { clientId, tenant, rateLimit } = client;
  request.access = { clientId, tenant, rateLimit };
  await sessions.begin(request, reply, client);
}

function explain(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  links: Parameters<typeof sendSignInPage>[3],
): FastifyReply {
  const failure = error instanceof TokenError ? new SignInError('NO_CLIENT', error.message) : error;
  if (!(failure instanceof SignInError)) throw failure;
  const { code, message } = failure;
  request.log.warn({ code, reason: message }, 'a sign-in at the identity provider failed');
  return sendSignInPage(request, reply, code, links);
}

function readReturnPath(query: string): string {
  const values = new URLSearchParams(query).getAll('return_to');
  const [path = '/console/'] = values;
  if (values.length <= 1 && isReturnPath(path)) return path;
  throw new RequestError(
    'INVALID_REQUEST_PARAMS',
    "Cannot sign in: return_to must be one path of a page of the console, such as '/console/subscriptions'",
  );
}

function readTransaction(value: string | undefined): Transaction | undefined {
  const [secret = '', path = ''] = (value ?? '').split('.');
  const returnTo = Buffer.from(path, 'base64url').toString();
  return /^[\w-]{43}$/.test(secret) && isReturnPath(returnTo) ? { secret, returnTo } : undefined;
}

const isFromOtherSite = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';
