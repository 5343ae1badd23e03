import { createHmac } from 'node:crypto';
import type { Configuration, CustomFetch } from 'openid-client';
import type { Store } from '../../storage/store.ts';
import { type ClientRow, findClient, isExternalClient } from '../../storage/tables/client.ts';
import { CodedError, IssuerError } from '../error.ts';
import { externalAlgorithms } from './external-claims.ts';
import { fetchIssuerMetadata, isKeysUrlOf, issuerTimeoutMs, readIssuerBody } from './fetch-issuer-metadata.ts';

/** Settings of the console's sign-in at the external issuer. */
export interface ProviderSettings {
  readonly issuer: string;
  /** The console's own client at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim of the ID token with the ids of clients whose records the person may read. */
  readonly clientClaim: string;
  /** `PUBLIC_URL/console`; the issuer redirects to `/callback` below it. */
  readonly consoleUrl: string;
}

/** A person who signed in at the issuer. */
interface Person {
  /** `sub`: the person's id at the issuer, cut off at 255 characters. */
  readonly subject: string;
  /** Values of the claim that names the client. */
  readonly clientIds: readonly string[];
}

/**
 * Sign-in of people at the external issuer: the authorization code flow of OpenID Connect with PKCE
 * (RFC 7636). `state`, `nonce` and the code verifier are derived from a secret that only the
 * browser keeps, so the service stores nothing.
 */
export interface ProviderSignIn {
  /** Returns the URL at the issuer where the person signs in. Throws `SignInError`. */
  readonly authorizationUrl: (secret: string) => Promise<string>;
  /** Returns the person of an authorization response. Throws `SignInError`. */
  readonly finish: (query: string, secret: string) => Promise<Person>;
  /** Returns the URL that signs the person out at the issuer; `undefined` if it has none. */
  readonly endSessionUrl: () => Promise<string | undefined>;
}

/** Age in seconds after which the discovery document is fetched again. */
const freshSeconds = 600;

/** Values of a transaction, derived from its secret; none of them reveals another. */
const derive = (secret: string, name: 'state' | 'nonce' | 'verifier'): string =>
  createHmac('sha256', secret).update(name).digest('base64url');

/** Creates the sign-in at the issuer. The library is loaded when the first person signs in. */
export function createProviderSignIn(settings: ProviderSettings): ProviderSignIn {
  const { clientClaim, consoleUrl } = settings;
  const redirectUri = `${consoleUrl}/callback`;
  const configuration = cacheConfiguration(settings);
  return {
    async authorizationUrl(secret) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid',
        state: derive(secret, 'state'),
        nonce: derive(secret, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(derive(secret, 'verifier')),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    async finish(query, secret) {
      const { authorizationCodeGrant } = await import('openid-client');
      const using = await configuration();
      const tokens = await authorizationCodeGrant(using, new URL(`${redirectUri}?${query}`), {
        expectedState: derive(secret, 'state'),
        expectedNonce: derive(secret, 'nonce'),
        pkceCodeVerifier: derive(secret, 'verifier'),
        idTokenExpected: true,
      }).catch((error: unknown) => {
        throw toSignInError(error);
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new SignInError('INVALID', 'the response has no ID token');
      return { subject: claims.sub.slice(0, 255), clientIds: readNames(claims[clientClaim]) };
    },
    async endSessionUrl() {
      const using = await configuration();
      if (using.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { buildEndSessionUrl } = await import('openid-client');
      return buildEndSessionUrl(using, { post_logout_redirect_uri: `${consoleUrl}/` }).href;
    },
  };
}

/**
 * Returns a function that returns the configuration, made from the issuer's discovery document. It
 * throws `SignInError` if there is none; an older one stays in use while the issuer is down.
 */
function cacheConfiguration(settings: ProviderSettings): () => Promise<Configuration> {
  let known: Configuration | undefined;
  let fetchedAt = 0;
  let fetching: Promise<Configuration> | undefined;
  const fetchOnce = (): Promise<Configuration> => {
    fetching ??= openConfiguration(settings).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return async () => {
    if (known !== undefined && performance.now() / 1000 < fetchedAt + freshSeconds) return known;
    try {
      known = await fetchOnce();
      fetchedAt = performance.now() / 1000;
      return known;
    } catch (error) {
      if (known === undefined) throw toSignInError(error);
      return known;
    }
  };
}

async function openConfiguration(settings: ProviderSettings): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  const library = await import('openid-client');
  const metadata = await fetchIssuerMetadata(issuer, AbortSignal.timeout(issuerTimeoutMs));
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) requireSecure(issuer, metadata, name);
  const offered = metadata.id_token_signing_alg_values_supported;
  const server = {
    ...metadata,
    issuer,
    // the library rejects an ID token signed with any other algorithm
    id_token_signing_alg_values_supported: externalAlgorithms.filter((each) =>
      Array.isArray(offered) ? offered.includes(each) : each === 'RS256',
    ),
  };
  const configuration = new library.Configuration(server, clientId, undefined, library.ClientSecretPost(clientSecret));
  configuration.timeout = issuerTimeoutMs / 1000;
  configuration[library.customFetch] = limitedFetch;
  // the signature of the ID token is verified although it arrives over TLS
  library.enableNonRepudiationChecks(configuration);
  if (issuer.startsWith('http://')) library.allowInsecureRequests(configuration); // only on this machine
  return configuration;
}

function requireSecure(issuer: string, metadata: Record<string, unknown>, name: string): void {
  const url = metadata[name];
  if (typeof url === 'string' && isKeysUrlOf(issuer, url)) return;
  throw new IssuerError(
    `Cannot use the discovery document of the external issuer: its ${name} must be an https URL: current value is '${url}'`,
  );
}

/** Sends a request of the library, and limits the size of the response. */
const limitedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, { ...options, body: options.body ?? null } as RequestInit);
  const body = await readIssuerBody(response, url);
  return new Response(body.length === 0 ? null : new Uint8Array(body), response);
};

/** The names in a claim: a string, or an array of strings. */
function readNames(claim: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}

/**
 * Why a person could not be signed in at the external issuer.
 * - `REFUSED`: the issuer responded with an error, such as `access_denied`.
 * - `INVALID`: the response does not belong to this sign-in, or cannot be verified.
 * - `UNAVAILABLE`: the issuer cannot be reached, or rejects the credentials of the console.
 * - `NO_CLIENT`, `SEVERAL_CLIENTS`: the ID token must name exactly one client of the issuer.
 */
export type SignInErrorCode = 'REFUSED' | 'INVALID' | 'UNAVAILABLE' | 'NO_CLIENT' | 'SEVERAL_CLIENTS';

/** A failed sign-in. The message is for the log; it contains no token and no code. */
export class SignInError extends CodedError<SignInErrorCode> {
  override readonly name = 'SignInError';
}

/** What openid-client throws, as far as it decides the code. */
interface ProtocolError {
  readonly code?: string;
  /** The error code of OAuth that the issuer sent. */
  readonly error?: string;
  readonly cause?: unknown;
}

/** Codes of openid-client for an issuer that does not respond as expected. */
const unavailable: readonly unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
];

/** Turns an error of openid-client, or of a request to the issuer, into a `SignInError`. */
function toSignInError(error: unknown): SignInError {
  const { code, error: reported, cause } = error as ProtocolError;
  // the issuer chose it among the codes of RFC 6749 §4.1.2.1, but it arrived in a URL
  const shown = /^[a-z_]{1,64}$/.test(reported ?? '') ? reported : 'an unknown error';
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return new SignInError('REFUSED', `the issuer responded with ${shown}`);
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' && reported === 'invalid_grant')
    return new SignInError('INVALID', 'the issuer does not accept the code');
  if (code === 'OAUTH_RESPONSE_BODY_ERROR')
    return new SignInError('UNAVAILABLE', `the token endpoint of the issuer responded with ${shown}`);
  const isUnavailable =
    [error, cause].some((each) => each instanceof IssuerError) || isFailedFetch(error) || unavailable.includes(code);
  // without its other members: they can hold the tokens of a response
  const message = [error, cause].map((each) => (each instanceof Error ? each.message : undefined));
  return new SignInError(isUnavailable ? 'UNAVAILABLE' : 'INVALID', message.filter(Boolean).join(': '));
}

/** Whether `fetch` itself failed: it throws a `TypeError` with the cause. */
const isFailedFetch = (error: unknown): boolean => error instanceof TypeError && error.cause !== undefined;

/** Maximum number of names in the claim; each is looked up. */
const namesMax = 100;

/**
 * Returns the client whose records a person may read: the one active client of the external issuer
 * that the ID token names. Other names, such as roles of other applications, are ignored. Throws
 * `SignInError` if there is none, or more than one.
 */
export async function findPersonClient(store: Store, names: readonly string[]): Promise<ClientRow> {
  if (names.length > namesMax)
    throw new SignInError('SEVERAL_CLIENTS', `the claim has ${names.length} values, more than ${namesMax}`);
  const found = await Promise.all(names.map((name) => findClient(store, name)));
  const clients = found.filter((client) => client !== undefined && isActive(client));
  const [client, ...others] = clients;
  if (client === undefined)
    throw new SignInError('NO_CLIENT', 'the claim names no active client that was created with --external');
  if (others.length > 0) {
    const ids = clients.map((each) => each?.clientId).join(', ');
    throw new SignInError('SEVERAL_CLIENTS', `the claim names several clients: ${ids}`);
  }
  return client;
}

const isActive = (client: ClientRow): boolean => isExternalClient(client) && client.disabledAt === null;
