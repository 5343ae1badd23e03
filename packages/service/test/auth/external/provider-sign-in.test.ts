import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { consoleClient } from '../../../../../test/support/sign-in-provider.ts';
import { createProviderSignIn, type ProviderSignIn, SignInError } from '../../../auth/provider/provider-sign-in.ts';
import { type IssuerKey, makeKey, type ScriptedIssuer, sign, startScriptedIssuer } from './issuers.ts';

const consoleUrl = 'https://reports.example.com/console';
const now = (): number => Math.floor(Date.now() / 1000);
/** Of the browser; a test needs no randomness. */
const secret = 'A'.repeat(43);

// Titles carry the section of the standard: Core is OpenID Connect Core 1.0.
describe('sign-in at an identity provider', () => {
  let issuer: ScriptedIssuer;
  let key: IssuerKey;
  let stranger: IssuerKey;
  /** A key of the issuer whose algorithm its metadata does not offer. */
  let rsa: IssuerKey;
  let signIn: ProviderSignIn;
  /** The body of the token response. */
  let tokens: () => Promise<object>;
  let metadata: Record<string, unknown>;

  const open = (): ProviderSignIn =>
    createProviderSignIn({
      issuer: issuer.url,
      clientId: consoleClient.id,
      clientSecret: consoleClient.secret,
      clientClaim: 'subreport_client',
      consoleUrl,
    });
  const begin = async (): Promise<URLSearchParams> => new URL(await signIn.authorizationUrl(secret)).searchParams;
  const idToken = async (header: object = {}, claims: object = {}, signer = key): Promise<string> => {
    const nonce = (await begin()).get('nonce');
    const base = { iss: issuer.url, aud: consoleClient.id, sub: 'ada', nonce, iat: now(), exp: now() + 60 };
    return sign(signer, { typ: 'JWT', ...header }, { ...base, subreport_client: 'acme', ...claims });
  };
  const finish = async (change: Record<string, string> = {}) => {
    const state = (await begin()).get('state') ?? '';
    return signIn.finish(String(new URLSearchParams({ code: 'a-code', state, iss: issuer.url, ...change })), secret);
  };
  const failure = async (attempt: Promise<unknown>): Promise<unknown> => {
    const error: unknown = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof SignInError)) throw new Error(`not a SignInError: ${error}`);
    return error.code;
  };

  beforeAll(async () => {
    [key, stranger, rsa] = await Promise.all([makeKey('ES256'), makeKey('ES256'), makeKey('RS256')]);
    issuer = await startScriptedIssuer([key]);
  });
  afterAll(() => issuer.close());
  beforeEach(() => {
    tokens = async () => ({ access_token: 'opaque', token_type: 'bearer', id_token: await idToken() });
    metadata = {
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
      jwks_uri: `${issuer.url}/keys`,
      id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    };
    issuer.script = (path, response) => {
      if (path === '/keys') return { keys: [key.publicJwk, rsa.publicJwk] };
      if (path !== '/token') return metadata;
      response.setHeader('content-type', 'application/json');
      void tokens().then((body) => response.end(JSON.stringify(body)));
      return undefined;
    };
    signIn = open();
  });

  test('RFC 7636 §4.2: the request has a code challenge by S256, the exact redirect URI, state and nonce', async () => {
    const { code_challenge: challenge, state, nonce, ...rest } = Object.fromEntries(await begin());
    expect(rest).toEqual({
      client_id: consoleClient.id,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: `${consoleUrl}/callback`,
      code_challenge_method: 'S256',
    });
    const values = [challenge, state, nonce];
    for (const value of values) expect(value).toMatch(/^[\w-]{43}$/);
    // none of the values that the browser sees in a URL reveals the secret or another
    expect(new Set([...values, secret, createHash('sha256').update(secret).digest('base64url')]).size).toBe(5);
  });

  test.each([
    ['a string', 'acme', ['acme']],
    ['an array', ['acme', 'other.role', 7, 'acme'], ['acme', 'other.role']],
    ['missing', undefined, []],
    ['no string', { id: 'acme' }, []],
  ])('the claim that names the client may be %s', async (_case, claim, clientIds) => {
    tokens = async () => ({
      access_token: 'opaque',
      token_type: 'bearer',
      id_token: await idToken({}, { subreport_client: claim }),
    });
    expect(await finish()).toEqual({ subject: 'ada', clientIds });
  });

  test.each<[string, () => Promise<string | undefined>]>([
    ['Core §3.1.3.7(2): of another issuer', () => idToken({}, { iss: 'https://other.example.com' })],
    ['Core §3.1.3.7(3): for another client', () => idToken({}, { aud: 'other' })],
    ['Core §3.1.3.7(6): signed by another key', () => idToken({}, {}, { ...stranger, kid: key.kid })],
    ['Core §3.1.3.7(7): with an algorithm that is not allowed', () => idToken({}, {}, rsa)],
    ['RFC 8725 §2.1: with an HMAC of the client secret', async () => withHmac(await idToken())],
    ['RFC 8725 §3.2: without a signature', async () => unsigned(await idToken())],
    ['Core §3.1.3.7(9): that has expired', () => idToken({}, { exp: now() - 60 })],
    ['Core §3.1.3.7(11): with another nonce', () => idToken({}, { nonce: 'other' })],
    ['Core §3.1.3.7(11): without a nonce', () => idToken({}, { nonce: undefined })],
    ['Core §2: without a subject', () => idToken({}, { sub: undefined })],
    ['Core §3.1.3.3: that is missing', async () => undefined],
  ])('an ID token is rejected: %s', async (_case, make) => {
    const token = await make();
    tokens = async () => ({ access_token: 'opaque', token_type: 'bearer', id_token: token });
    expect(await failure(finish())).toBe('INVALID');
  });

  test.each([
    ['RFC 6749 §10.12: another state', { state: 'other' }],
    ['RFC 9207 §2.4: the issuer identifier of another issuer', { iss: 'https://other.example.com' }],
    ['RFC 9207 §2.4: an empty issuer identifier', { iss: '' }],
    ['RFC 6749 §4.1.2: no code', { code: '' }],
  ])('an authorization response is rejected before the code is sent: %s', async (_case, change) => {
    const before = issuer.requested.length;
    expect(await failure(finish(change))).toBe('INVALID');
    expect(issuer.requested.slice(before)).not.toContain('/token');
  });

  test('RFC 6749 §3.1: a repeated parameter of the response is rejected', async () => {
    const state = (await begin()).get('state');
    const query = `code=a&code=b&state=${state}&iss=${encodeURIComponent(issuer.url)}`;
    expect(await failure(signIn.finish(query, secret))).toBe('INVALID');
  });

  test('RFC 6749 §4.1.2.1: an error of the provider counts only with the right state', async () => {
    const state = (await begin()).get('state') ?? '';
    const response = (change: object) =>
      signIn.finish(String(new URLSearchParams({ error: 'access_denied', state, iss: issuer.url, ...change })), secret);
    expect(await failure(response({}))).toBe('REFUSED');
    expect(await failure(response({ state: 'other' }))).toBe('INVALID');
  });

  test.each([
    ['that rejects the code', 400, { error: 'invalid_grant' }, 'INVALID'],
    ['that rejects the credentials of the console', 401, { error: 'invalid_client' }, 'UNAVAILABLE'],
    ['that fails', 500, {}, 'UNAVAILABLE'],
  ])('a token endpoint %s', async (_case, status, body, code) => {
    await begin();
    issuer.script = (path, response) => {
      if (path === '/token') response.writeHead(status, { 'content-type': 'application/json' });
      return path === '/token' ? body : metadata;
    };
    expect(await failure(finish())).toBe(code);
  });

  test('RFC 8414 §3.3: a discovery document of another issuer is not used', async () => {
    metadata.issuer = `${issuer.url}/`;
    expect(await failure(begin())).toBe('UNAVAILABLE');
  });

  test.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'])(
    'RFC 9700 §2.6: a discovery document whose %s is not https is not used',
    async (name) => {
      metadata[name] = 'http://id.example.com/x';
      expect(await failure(begin())).toBe('UNAVAILABLE');
    },
  );

  test('a provider that does not respond is asked once for all concurrent sign-ins, and again for the next', async () => {
    let asked = 0;
    issuer.script = (path, response) => {
      asked += 1;
      if (path.endsWith('openid-configuration')) response.writeHead(503);
      return {};
    };
    expect(await Promise.all([failure(begin()), failure(begin())])).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(asked).toBe(1);
    issuer.script = () => metadata;
    expect((await begin()).get('response_type')).toBe('code');
  });

  test('OpenID Connect RP-Initiated Logout §2: the sign-out page of the provider, if it has one', async () => {
    expect(await signIn.endSessionUrl()).toBeUndefined();
    metadata.end_session_endpoint = `${issuer.url}/end`;
    const url = new URL((await open().endSessionUrl()) ?? '');
    expect(url.origin + url.pathname).toBe(`${issuer.url}/end`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: consoleClient.id,
      post_logout_redirect_uri: `${consoleUrl}/`,
    });
  });
});

const withHmac = (token: string): string => {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256' })).toString('base64url');
  const content = `${header}.${token.split('.')[1]}`;
  return `${content}.${createHmac('sha256', consoleClient.secret).update(content).digest('base64url')}`;
};

/** A token with the header `alg` none and no signature. */
const unsigned = (token: string): string =>
  `${Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')}.${token.split('.')[1]}.`;
