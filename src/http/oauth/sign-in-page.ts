import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignInErrorCode } from '../../auth/sign-in-error.ts';
import { errorTable } from '../../contract/error.ts';
import type { ErrorCode } from '../../contract/error-code.ts';
import { escapeHtml } from '../listener/html.ts';
import { plainPage, plainPageHeaders } from '../listener/plain-page.ts';

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

/** Links of the page. */
interface SignInLinks {
  readonly consoleUrl: string;
  /** The page of the console that the person wants to see. */
  readonly returnTo: string;
}

/** Sends a page that says why a sign-in failed, with ways to try again. */
export function sendSignInPage(
  request: FastifyRequest,
  reply: FastifyReply,
  code: SignInErrorCode,
  { consoleUrl, returnTo }: SignInLinks,
): FastifyReply {
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
