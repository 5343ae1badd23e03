import { Api } from '../../client/api.ts';
import { createReader } from '../../client/client.ts';
import { systemClock } from '../../client/clock.ts';
import type { ChangesOptions } from '../../client/index.ts';
import { Sender } from '../../client/sender.ts';
import { historyBegin, session } from './session/session.ts';

/** The largest delay of a timer. The session limits how long a response may take to begin. */
const noTimeoutMs = 2_147_483_647;

const senderWith = (headers: Readonly<Record<string, string>>): Sender =>
  new Sender(
    {
      allowHttp: window.location.protocol === 'http:',
      timeoutMs: noTimeoutMs,
      attempts: 1, // a page that waits to try again would say nothing: its user tries again
      fetch: (input, init = {}) =>
        session.fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } }),
    },
    systemClock,
  );

const baseUrl = `${window.location.origin}/console/connect-api`;

/** The operations of the API for the signed-in client; the browser's cookie authenticates them. */
export const reports = createReader(new Api(baseUrl, senderWith({})), systemClock);

/** The same for requests that the page sends on its own: they do not keep the session alive. */
export const backgroundReports = createReader(new Api(baseUrl, senderWith({ 'x-background': '1' })), systemClock);

/** The feed of changes and its counts, requested until a signal aborts. */
export const changesUntil = (signal: AbortSignal) => ({
  historyBegin: historyBegin.peek(),
  changes: (since: string, options: ChangesOptions<true>) => reports.changes(since, { ...options, signal }),
  changesSummary: (...[since, options]: Parameters<typeof reports.changesSummary>) =>
    reports.changesSummary(since, { ...options, signal }),
});
