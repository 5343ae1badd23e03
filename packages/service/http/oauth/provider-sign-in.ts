import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorTable } from '../../../contract/error.ts';
import type { ErrorCode } from '../../../contract/error-code.ts';
import { consoleOperations } from '../../../contract/oauth/console-session.ts';
import type { AuthContext } from '../../auth/auth-context.ts';
import { omitEmail } from '../../auth/clients/authenticate-client.ts';
import { TokenError } from '../../auth/error.ts';
import {
  findPersonClient,
  type ProviderSignIn,
  SignInError,
  type SignInErrorCode,
} from '../../auth/provider/provider-sign-in.ts';
import { accessOf } from '../../auth/verify/resource-server.ts';
import { createSessionCookie } from '../listener/browser-session.ts';
import { RequestError } from '../listener/error.ts';
import { queryOf } from '../listener/operation-routes.ts';
import { escapeHtml, plainPage, plainPageHeaders } from '../listener/plain-page.ts';
import type { RateLimiter } from '../listener/rate-limit.ts';
import { withinRequest } from '../listener/request-deadline.ts';
import type { ConsoleSessions } from './console-session.ts';
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
  auditRequest(request, { subject: omitEmail(subject) });
  const client = await findPersonClient(withinRequest(auth, request).store, clientIds);
  request.access = accessOf(client);
  await sessions.begin(request, reply, client);
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

/** Longest path in characters: its cookie must fit in the 3 kB of all headers. */
const lengthMax = 1_000;

/** Paths below `/console` that are not pages. */
const notPages = /^\/console\/(?:sign-in|sign-out|callback|session|connect-api|static)(?:\/|$)/;

/**
 * Whether a path is a page of the console of this service, so that a link cannot send a person who
 * signs in to another site.
 */
export function isReturnPath(path: string): boolean {
  if (path.length > lengthMax || !/^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(path)) return false;
  const { origin, pathname } = new URL(path, 'https://own.invalid');
  return origin === 'https://own.invalid' && /^\/console(?:\/|$)/.test(pathname) && !notPages.test(pathname);
}

/** What a person reads after a failed sign-in, and its status. */
interface Explanation {
  readonly error: ErrorCode;
  readonly sentences: readonly string[];
  /** Whether another account at the identity provider would help. */
  readonly isAboutAccount?: true;
}

const explanations: Readonly<Record<SignInErrorCode, Explanation>> = {
  REFUSED: { error: 'ACCESS_DENIED', sentences: ['The identity provider did not sign you in.'] },
  INVALID: {
    error: 'INVALID_REQUEST_PARAMS',
    sentences: [
      'This sign-in has expired, was already used, or began in another browser or under another address.',
      'Nothing has changed: begin again.',
    ],
  },
  UNAVAILABLE: {
    error: 'UNAVAILABLE',
    sentences: ['The identity provider cannot sign you in now.', 'Try again in a minute.'],
  },
  NO_CLIENT: {
    error: 'ACCESS_DENIED',
    sentences: ['Your account may not read any report.', 'Ask your administrator to give it access.'],
    isAboutAccount: true,
  },
  SEVERAL_CLIENTS: {
    error: 'ACCESS_DENIED',
    sentences: [
      'Your account has access to several clients, and the console shows the report of one.',
      'Ask your administrator to leave one of them.',
    ],
    isAboutAccount: true,
  },
};

interface SignInLinks {
  readonly consoleUrl: string;
  /** The page of the console that the person wants to see. */
  readonly returnTo: string;
}

/** Sends a page that says why a sign-in failed, with ways to try again. Throws any other error. */
function explain(
  cause: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { consoleUrl, returnTo }: SignInLinks,
): FastifyReply {
  const failure = cause instanceof TokenError ? new SignInError('NO_CLIENT', cause.message) : cause;
  if (!(failure instanceof SignInError)) throw failure;
  const { code, message } = failure;
  request.log.warn({ code, reason: message }, 'a sign-in at the identity provider failed');
  const { error, sentences, isAboutAccount } = explanations[code];
  const again = `${consoleUrl}/sign-in?${new URLSearchParams({ return_to: returnTo })}`;
  const links = [
    link(again, 'Try again'),
    ...(isAboutAccount
      ? [link(`${consoleUrl}/sign-out`, 'Sign out at the identity provider, to use another account')]
      : []),
    link(`${consoleUrl}/`, 'Other ways to sign in'),
  ];
  const main = `<h1>You are not signed in</h1>
<p role="alert">${sentences.join(' ')}</p>
${links.map((each) => `<p>${each}</p>`).join('\n')}
<p>Correlation id: <code>${escapeHtml(request.id)}</code></p>`;
  return reply
    .code(errorTable[error].status)
    .headers({ ...plainPageHeaders, 'cache-control': 'no-store' })
    .send(plainPage('Sign in · subreport', main));
}

const link = (url: string, text: string): string => `<a href="${escapeHtml(url)}">${text}</a>`;
