import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { type MutableToken, OAuth2Server } from 'oauth2-mock-server';
import { freePort } from '../../../../../tools/free-port.ts';

/** A key of an issuer; tests sign with it what the issuer itself would not. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
}

/** Creates a key of an issuer. */
export async function makeKey(alg: string, kid = `${alg}-1`): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const more = { kid, alg, use: 'sig' };
  return {
    kid,
    alg,
    privateKey,
    privateJwk: { ...(await exportJWK(privateKey)), ...more },
    publicJwk: { ...(await exportJWK(publicKey)), ...more },
  };
}

/** Signs any header and claims with a key; `undefined` members are left out. */
export function sign(
  key: IssuerKey,
  header: Record<string, unknown>,
  claims: Record<string, unknown>,
): Promise<string> {
  const defined = <T extends object>(from: T) =>
    Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined));
  const whole = defined({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }) as JWTHeaderParameters;
  return new SignJWT(defined(claims) as JWTPayload)
    .setProtectedHeader(whole)
    .sign(key.privateKey, { crit: { 'x-unknown': true } });
}

/** The secret of every client of the issuers below. */
const clientSecret = 'a-secret-that-only-the-issuer-knows';

async function postToken(url: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  const body = (await response.json()) as Record<string, string>;
  if (response.status !== 200) throw new Error(`the issuer refused: ${JSON.stringify(body)}`);
  return body;
}

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void, port = 0) {
  const server = createServer(handler).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** oidc-provider, the certified OpenID Provider, as a strict issuer of RFC 9068 access tokens. */
export interface CertifiedIssuer {
  readonly url: string;
  /** Its keys by algorithm. */
  readonly keys: Readonly<Record<'ES256' | 'RS256', IssuerKey>>;
  /**
   * An access token by client credentials, signed with ES256, or with RS256 for clients whose id
   * ends in -rs.
   */
  token(clientId: string, audience: string, scope?: string): Promise<string>;
  close(): Promise<void>;
}

interface ProviderModule {
  readonly default: new (
    issuer: string,
    configuration: object,
  ) => { callback(): (request: IncomingMessage, response: ServerResponse) => void };
}

/** Starts oidc-provider with clients of these ids. */
export async function startCertifiedIssuer(clientIds: readonly string[]): Promise<CertifiedIssuer> {
  const name: string = 'oidc-provider'; // it comes without types
  const { default: Provider } = (await import(name)) as ProviderModule;
  const keys = { ES256: await makeKey('ES256'), RS256: await makeKey('RS256') };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = new Provider(url, {
    jwks: { keys: Object.values(keys).map(({ privateJwk }) => privateJwk) },
    clients: clientIds.map((client_id) => ({
      client_id,
      client_secret: clientSecret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string, client: { clientId: string }) => ({
          scope: 'subscription:read other:read read:subscriptions',
          audience: resource,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: client.clientId.endsWith('-rs') ? 'RS256' : 'ES256' } },
        }),
      },
    },
  });
  const { server } = await listen(provider.callback(), port);
  return {
    url,
    keys,
    async token(client_id, resource, scope = 'subscription:read') {
      const form = { grant_type: 'client_credentials', client_id, client_secret: clientSecret, resource, scope };
      return (await postToken(`${url}/token`, form)).access_token ?? '';
    },
    close: () => close(server),
  };
}

/** oauth2-mock-server with tokens like those of Keycloak's service accounts. */
export interface KeycloakShapedIssuer {
  readonly url: string;
  readonly server: OAuth2Server;
  /** Returns an access token by client credentials; `edit` may change the claims. */
  token(clientId: string, audience: string, edit?: (token: MutableToken) => void): Promise<string>;
  /** The ID token of a user who signed in at a client. */
  idToken(clientId: string): Promise<string>;
  /** Starts signing with a new key; the old ones stay in the key set. */
  rotateKey(kid: string): Promise<void>;
  /** Stops responding; starts again at the same port. */
  stop(): Promise<void>;
  restart(): Promise<void>;
}

/** Starts oauth2-mock-server; with `slash`, its issuer ends with a slash. */
export async function startKeycloakShapedIssuer(slash = false): Promise<KeycloakShapedIssuer> {
  const server = new OAuth2Server(undefined, undefined, { shouldIssuerUrlBeSuffixedWithATralingSlash: slash });
  await server.issuer.keys.generate('RS256', { kid: 'kc-1' });
  const port = await freePort();
  await server.start(port, '127.0.0.1');
  const url = server.issuer.url ?? '';
  let kid = 'kc-1';
  const once = (edit: (token: MutableToken) => void) => server.service.once('beforeTokenSigning', edit);
  return {
    url,
    server,
    async token(clientId, audience, edit) {
      once((token) => {
        Object.assign(token.payload, {
          jti: 'trrtcc:8f14e45f',
          aud: [audience, 'account'],
          sub: '1a79a4d6-0de6-4186-b5c1-1c8b9a3f0001', // the service account's user
          typ: 'Bearer',
          azp: clientId,
          acr: '1',
          realm_access: { roles: ['offline_access', 'uma_authorization'] },
          scope: 'profile email',
          clientHost: '127.0.0.1',
          preferred_username: `service-account-${clientId}`,
          client_id: clientId,
        });
        edit?.(token);
      });
      // the server uses its keys in turn
      for (const key of server.issuer.keys.toJSON()) if (key.kid !== kid) server.issuer.keys.get(key.kid);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
      return (await postToken(`http://127.0.0.1:${port}/token`, form)).access_token ?? '';
    },
    async idToken(clientId) {
      const form = { grant_type: 'password', username: 'ada', password: 'x', client_id: clientId, scope: 'openid' };
      return (await postToken(`http://127.0.0.1:${port}/token`, form)).id_token ?? '';
    },
    async rotateKey(next) {
      kid = next;
      await server.issuer.keys.generate('RS256', { kid: next });
    },
    stop: () => server.stop(),
    async restart() {
      await server.start(port, '127.0.0.1');
    },
  };
}

/**
 * The response of a scripted issuer at a path: a JSON body, or `response` used directly;
 * `undefined` never responds.
 */
export type Script = (path: string, response: ServerResponse) => object | undefined;

/** An issuer whose responses the test controls, and which records its requests. */
export interface ScriptedIssuer {
  readonly url: string;
  /** Requested paths in order. */
  readonly requested: string[];
  script: Script;
  close(): Promise<void>;
}

/**
 * Starts an issuer whose discovery document and key set are valid until the test changes its
 * script.
 */
export async function startScriptedIssuer(keys: readonly IssuerKey[], path = ''): Promise<ScriptedIssuer> {
  const requested: string[] = [];
  const { server, url } = await listen((request, response) => {
    requested.push(request.url ?? '');
    const body = issuer.script(request.url ?? '', response);
    if (body !== undefined && !response.writableEnded) response.end(JSON.stringify(body));
  });
  const issuer: ScriptedIssuer = {
    url: url + path,
    requested,
    script: (target) =>
      target === '/keys'
        ? { keys: keys.map(({ publicJwk }) => publicJwk) }
        : { issuer: url + path, jwks_uri: `${url}/keys` },
    close: () => close(server),
  };
  return issuer;
}
