import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../../tools/free-port.ts';

/** oidc-provider, the certified OpenID Provider, with a page where people sign in by name. */
export interface SignInProvider {
  readonly url: string;
  /** Further claims of the ID token by the person's name. */
  readonly claims: Record<string, Record<string, unknown>>;
  /** Begins to respond, with the console of the service at `publicUrl` as its client. */
  serve(publicUrl: string): Promise<void>;
  close(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The part of oidc-provider that is used here; it comes without types. */
interface Provider {
  callback(): Handler;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}

/** The console's credentials at the provider. */
export const consoleClient = { id: 'subreport-console', secret: 'a-secret-of-the-console-at-its-provider' };

/** Starts the provider at a host name; a person signs in without a password. */
export async function startSignInProvider(host: string): Promise<SignInProvider> {
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const claims: SignInProvider['claims'] = {};
  let handle: Handler = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => void handle(request, response)).listen(port, host);
  await once(server, 'listening');
  return {
    url,
    claims,
    async serve(publicUrl) {
      const provider = await openProvider(url, publicUrl, claims);
      const respond = provider.callback();
      handle = (request, response) =>
        request.url?.startsWith('/interaction/') ? interact(provider, request, response) : respond(request, response);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface GrantContext {
  readonly oidc: { readonly client: { readonly clientId: string }; readonly session: { readonly accountId: string } };
}

async function openProvider(url: string, publicUrl: string, claims: SignInProvider['claims']): Promise<Provider> {
  const name: string = 'oidc-provider';
  type Library = { readonly default: new (issuer: string, configuration: object) => Provider };
  const { default: Provider } = (await import(name)) as Library;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: consoleClient.id,
        client_secret: consoleClient.secret,
        redirect_uris: [`${publicUrl}/console/callback`],
        post_logout_redirect_uris: [`${publicUrl}/console/`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    cookies: { keys: ['a-key-of-cookies'] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 60, IdToken: 60 },
    claims: { openid: ['sub', 'subreport_client'] },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...claims[sub] }) }),
    async loadExistingGrant({ oidc: { client, session } }: GrantContext) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
  });
  return provider;
}

const page = `<!doctype html><title>Provider</title><form method="post">
<label>Name <input name="name"></label><button>Continue</button><button name="cancel" value="1">Cancel</button></form>`;

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(page);
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const form = new URLSearchParams(body);
  const result = form.has('cancel') ? { error: 'access_denied' } : { login: { accountId: form.get('name') } };
  await provider.interactionFinished(request, response, result);
}
