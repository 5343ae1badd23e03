import { createHmac } from 'node:crypto';
import type { Configuration, CustomFetch } from 'openid-client';
import { inRequestSpan } from '../tracing/span.ts';
import { IssuerError } from './error.ts';
import { fetchIssuerMetadata, issuerTimeoutMs, readIssuerBody } from './fetch-issuer-metadata.ts';
import { isKeysUrlOf } from './secure-url.ts';
import { SignInError, toSignInError } from './sign-in-error.ts';

/** Settings of the console's sign-in at the external issuer. */
export interface ProviderSettings {
  readonly issuer: string;
  /** The console's own client at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim of the ID token with the ids of clients whose records the person may read. */
  readonly clientClaim: string;
  readonly algorithms: readonly string[];
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
  const { issuer, clientId, clientSecret, algorithms } = settings;
  const library = await import('openid-client');
  const metadata = await fetchIssuerMetadata(issuer, AbortSignal.timeout(issuerTimeoutMs));
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) requireSecure(issuer, metadata, name);
  const offered = metadata.id_token_signing_alg_values_supported;
  const server = {
    ...metadata,
    issuer,
    // the library rejects an ID token signed with any other algorithm
    id_token_signing_alg_values_supported: algorithms.filter((each) =>
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
const limitedFetch: CustomFetch = (url, options) =>
  inRequestSpan(
    url,
    async (headers) => {
      const response = await fetch(url, {
        ...options,
        body: options.body ?? null,
        headers: { ...options.headers, ...headers },
      } as RequestInit);
      const body = await readIssuerBody(response, url);
      return new Response(body.length === 0 ? null : new Uint8Array(body), response);
    },
    options.method,
  );

/** The names in a claim: a string, or an array of strings. */
function readNames(claim: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}
