import type { ClientCredentialsOnce } from '../../packages/service/auth/clients/manage-clients.ts';
import type { Side } from '../support/compare.ts';
import type { TokenServer } from './token-servers.ts';

/** Token requests with client credentials, for each client in turn. */
export function clientCredentialsSide(name: string, server: TokenServer): Side {
  return { name, server, requests: server.clients.map((client) => tokenRequest(server, client)), status: 200 };
}

/**
 * Refreshes: each connection starts with client credentials and then sends the refresh token of its
 * last response.
 */
export function refreshSide(name: string, server: TokenServer): Side {
  return {
    ...clientCredentialsSide(name, server),
    follow: (body, connection) => {
      const client = server.clients[connection];
      if (client === undefined) throw new RangeError(`Cannot refresh: connection ${connection} must have a client`);
      return formRequest(server.tokenPath, {
        grant_type: 'refresh_token',
        refresh_token: (JSON.parse(body) as { refresh_token: string }).refresh_token,
        ...client,
      });
    },
  };
}

function tokenRequest({ tokenPath }: TokenServer, client: ClientCredentialsOnce): Buffer {
  return formRequest(tokenPath, { grant_type: 'client_credentials', ...client });
}

function formRequest(path: string, form: Readonly<Record<string, string>>): Buffer {
  const body = new URLSearchParams(form).toString();
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}
