import { signal } from '@preact/signals';
import { Api } from '../../client/api.ts';
import { createReader } from '../../client/client.ts';
import { systemClock } from '../../client/clock.ts';
import type { RetryEvent } from '../../client/options.ts';
import { Sender } from '../../client/sender.ts';
import { historyBegin, session } from './session/session.ts';

/** The largest delay of a timer. The session limits how long a response may take to begin. */
const noTimeoutMs = 2_147_483_647;

/** The last request of the user that is sent again after a wait, and when the wait began. */
export const lastRetry = signal<(RetryEvent & { readonly at: number }) | undefined>(undefined);

const senderWith = (headers: Readonly<Record<string, string>>, onRetry?: (event: RetryEvent) => void): Sender =>
  new Sender(
    {
      allowHttp: window.location.protocol === 'http:',
      timeoutMs: noTimeoutMs,
      onRetry,
      fetch: (input, init = {}) =>
        session.fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } }),
    },
    systemClock,
  );

const baseUrl = `${window.location.origin}/console/connect-api`;

/** The operations of the API for the signed-in client; the browser's cookie authenticates them. */
export const reports = createReader(
  new Api(
    baseUrl,
    senderWith({}, (event) => {
      lastRetry.value = { ...event, at: Date.now() };
    }),
  ),
  systemClock,
);

/** The same for requests that the page sends on its own: they do not keep the session alive. */
export const backgroundReports = createReader(new Api(baseUrl, senderWith({ 'x-background': '1' })), systemClock);

/** The feed of changes and its counts, requested until a signal aborts. */
export const changesUntil = (signal: AbortSignal) => ({
  historyBegin: historyBegin.peek(),
  changes: (...[since, options]: Parameters<typeof reports.changes>) => reports.changes(since, { ...options, signal }),
  changesSummary: (...[since, options]: Parameters<typeof reports.changesSummary>) =>
    reports.changesSummary(since, { ...options, signal }),
});
