import { type Answer, formRequest, getRequest } from './connection.ts';
import type { Load } from './measure-load.ts';
import { guardedPath, openPath } from './plan.ts';
import type { MeasuredServer } from './start-server.ts';

/** Each connection asks for one token after another with the credentials of a client of its own. */
export function clientCredentialsLoad(server: MeasuredServer): Load {
  return { server, source: (connection) => () => tokenRequest(server, connection) };
}

/** Each connection begins with client credentials and then refreshes again and again, each time with the refresh token that it got last. */
export function refreshLoad(server: MeasuredServer): Load {
  return {
    server,
    prepare: (connection) => tokenRequest(server, connection),
    source: (connection) => (previous) => {
      const refresh_token = tokensOf(previous).refresh_token;
      return formRequest(server.tokenPath, {
        grant_type: 'refresh_token',
        refresh_token,
        ...credentialsOf(server, connection),
      });
    },
  };
}

/** The page from a route that asks for nothing. */
export function openLoad(server: MeasuredServer): Load {
  const request = getRequest(openPath);
  return { server, source: () => () => request };
}

/** The page from behind the check of the report, with tokens that take turns: few of them are remembered, more than are remembered are checked anew each time. */
export function guardedLoad(server: MeasuredServer, tokens: readonly string[]): Load {
  const requests = tokens.map((token) => getRequest(guardedPath, token));
  let sent = 0;
  const next = (): string => {
    sent += 1;
    return requests[sent % requests.length] ?? '';
  };
  return { server, prepare: next, source: () => next };
}

/** The request for a token by client credentials that a connection sends. */
export function tokenRequest(server: MeasuredServer, connection: number): string {
  return formRequest(server.tokenPath, { grant_type: 'client_credentials', ...credentialsOf(server, connection) });
}

/** The tokens of an answer. */
export function tokensOf(answer: Answer | undefined): {
  readonly access_token: string;
  readonly refresh_token: string;
} {
  return JSON.parse(answer?.body ?? '');
}

function credentialsOf({ clients }: MeasuredServer, connection: number): { client_id: string; client_secret: string } {
  const client = clients[connection];
  if (client === undefined) throw new RangeError(`Cannot measure: there must be a client for connection ${connection}`);
  return { ...client };
}
