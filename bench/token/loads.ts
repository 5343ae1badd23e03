import { type Answer, formRequest, getRequest } from './connection.ts';
import type { Load } from './measure-load.ts';
import type { MeasuredServer } from './start-server.ts';

/** Each connection asks for one token after another with the credentials of a client of its own. */
export function clientCredentialsLoad(server: MeasuredServer): Load {
  return { server, source: (connection) => () => tokenRequest(server, connection) };
}

/**
 * Each connection begins with client credentials and then refreshes again and again, each time with
 * the refresh token that it got last.
 */
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

/**
 * A page of our API with one token after another; the open routes get them too and look at none, so
 * that only the check differs.
 */
export function pageLoad(server: MeasuredServer, path: string, nextToken: () => string): Load {
  const next = (): string => getRequest(path, nextToken());
  return { server, prepare: next, source: () => next };
}

/**
 * Gives tokens in turn, to all who share it: few of them are remembered; of more than the service
 * remembers, each is new when its turn comes again.
 */
export function takeTurns(tokens: readonly string[]): () => string {
  let taken = 0;
  return () => {
    taken += 1;
    return tokens[taken % tokens.length] ?? '';
  };
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
