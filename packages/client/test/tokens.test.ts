import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type ClientOptions,
  type RequestEvent,
  type StoredTokens,
  type SubreportClient,
  TokenSource,
  type TokenSourceOptions,
} from '../index.ts';
import { type ClientService, createMemoryStore, optionsOf, rejectionOf, startClientService } from './client-service.ts';
import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts';
import { createManualClock } from './manual-clock.ts';

const lifetimeMs = 10_000;
let shared: ClientService;
let proxy: FaultyProxy | undefined;
beforeAll(async () => {
  shared = await startClientService({ ACCESS_TOKEN_SECONDS: '10', REFRESH_TOKEN_SECONDS: '60' });
});
afterEach(async () => {
  vi.useRealTimers();
  await proxy?.close();
});
afterAll(() => shared.service.close());

interface Setup {
  readonly faultOf?: (request: ProxiedRequest) => Fault | undefined;
  readonly options?: Partial<ClientOptions>;
}

/** A client with a manual clock behind a proxy. */
async function setUp({ faultOf = () => undefined, options = {} }: Setup = {}) {
  const started = await startFaultyProxy(shared.service.url, faultOf);
  proxy = started;
  const clock = createManualClock();
  const given = {
    ...optionsOf({ url: started.url, baseUrl: `${started.url}/connect-api` }, shared.credentials),
    ...options,
  };
  return { clock, given, client: shared.clientOf(given as ClientOptions, shared.credentials, clock) };
}

const requests = (): readonly ProxiedRequest[] => proxy?.requests ?? [];
const isToken = ({ path }: ProxiedRequest): boolean => path.startsWith('/oauth2');
const formOf = ({ body }: ProxiedRequest) => Object.fromEntries(new URLSearchParams(body));
const grants = () =>
  requests()
    .filter(isToken)
    .map((request) => formOf(request).grant_type);
const reportRequests = () => requests().filter((request) => !isToken(request));
const read = (client: SubreportClient) => client.subscriptions({ size: 1 }).page();

/** Revokes the client's tokens without its knowledge. */
async function revokeElsewhere(client: SubreportClient): Promise<void> {
  const { accessToken: token } = await client.token();
  const body = new URLSearchParams({ token, ...shared.credentials });
  await fetch(`${shared.service.url}/oauth2/revoke`, { method: 'POST', body });
  await expect.poll(async () => (await shared.service.get('/v1/subscription', token)).status).toBe(401);
}

test('50 concurrent calls without a token make one token request', async () => {
  const { client } = await setUp();
  await Promise.all(Array.from({ length: 50 }, () => read(client)));
  expect([grants().length, reportRequests().length]).toEqual([1, 50]);
});

test('two hours of 10-second tokens pass without a rejected call', async () => {
  const start = 1_800_000_000_000;
  vi.useFakeTimers({ toFake: ['Date'], now: start }); // the clock of the service
  const clock = createManualClock(start);
  const paths: string[] = [];
  const onRequest = ({ url }: RequestEvent) => paths.push(new URL(url).pathname);
  const client = shared.clientOf({ onRequest }, shared.credentials, clock);
  let calls = 0;
  for (let elapsed = 0; elapsed < 7_200_000; calls += 1) {
    const step = 2_000 + ((calls * 7_919) % 17) * 1_000; // from within a lifetime to beyond it
    elapsed += step;
    clock.advance(step);
    vi.setSystemTime(start + elapsed);
    await read(client);
  }
  // none was repeated after a 401
  expect(paths.filter((path) => path.startsWith('/connect-api'))).toHaveLength(calls);
  expect(paths.length).toBeGreaterThan(calls * 1.5);
});

test('a token is renewed in the background while the old one serves', async () => {
  const gate = Promise.withResolvers<void>();
  const { client, clock } = await setUp({
    faultOf: (request) => (formOf(request).grant_type === 'refresh_token' ? gate.promise : undefined),
  });
  const { accessToken } = await client.token();
  clock.advance(lifetimeMs * 0.77); // jitter begins it between 78 and 82 percent
  await client.token();
  expect(grants()).toEqual(['client_credentials']);
  clock.advance(lifetimeMs * 0.06);
  await Promise.all([read(client), read(client)]); // the renewal has not finished
  expect((await client.token()).accessToken).toBe(accessToken);
  expect(grants()).toEqual(['client_credentials', 'refresh_token']);
  gate.resolve();
  await expect.poll(async () => (await client.token()).accessToken).not.toBe(accessToken);
});

test('after a lost response, the same refresh token is sent again, and its successor afterwards', async () => {
  let losses = 1;
  const { client, clock } = await setUp({
    faultOf: (request) => (formOf(request).grant_type === 'refresh_token' && losses-- > 0 ? 'lose' : undefined),
  });
  await client.token();
  clock.advance(lifetimeMs);
  await read(client);
  clock.advance(lifetimeMs);
  await read(client);
  const [, first, second, third] = requests().filter(isToken).map(formOf);
  expect(grants()).toEqual(['client_credentials', 'refresh_token', 'refresh_token', 'refresh_token']);
  expect(second?.refresh_token).toBe(first?.refresh_token);
  expect(third?.refresh_token).not.toBe(first?.refresh_token);
});

test('a rejected or expired refresh token is replaced by client credentials', async () => {
  const { client, clock } = await setUp();
  await client.token();
  await revokeElsewhere(client);
  clock.advance(lifetimeMs);
  await read(client);
  expect(grants()).toEqual(['client_credentials', 'refresh_token', 'client_credentials']);
  clock.advance(60_000); // REFRESH_TOKEN_SECONDS
  await read(client);
  expect(grants().slice(3)).toEqual(['client_credentials']);
});

test('a 401 renews the token once', async () => {
  const { client } = await setUp();
  await read(client);
  await revokeElsewhere(client);
  await read(client);
  expect(grants()).toEqual(['client_credentials', 'refresh_token', 'client_credentials']);
});

test('a 401 that remains after the renewal is UNAUTHORISED, and a 403 renews nothing', async () => {
  const body = (type: string) => JSON.stringify({ type, detail: 'rejected' });
  const faults: Fault[] = [401, 401].map((status) => ({ status, body: body('UNAUTHORISED') }));
  faults.push({ status: 403, body: body('ACCESS_DENIED') });
  const { client } = await setUp({ faultOf: (request) => (isToken(request) ? undefined : faults.shift()) });
  expect(await rejectionOf(read(client))).toMatchObject({ code: 'UNAUTHORISED' });
  expect([grants().length, reportRequests().length]).toEqual([2, 2]);
  expect(await rejectionOf(read(client))).toMatchObject({ code: 'ACCESS_DENIED' });
  expect([grants().length, reportRequests().length]).toEqual([2, 3]);
});

test('rejected credentials are sent once a minute, however many calls are made', async () => {
  const { client, clock } = await setUp({ options: { clientSecret: 'wrong' } });
  const errors = await Promise.all([rejectionOf(read(client)), rejectionOf(client.token())]);
  errors.push(await rejectionOf(read(client)));
  for (const error of errors) expect(error).toMatchObject({ name: 'TokenRequestError', code: 'invalid_client' });
  clock.advance(59_000);
  await rejectionOf(read(client));
  expect(grants()).toHaveLength(1);
  clock.advance(1_001);
  await rejectionOf(read(client));
  expect(grants()).toHaveLength(2);
});

test('calls succeed while the token endpoint is down, until the token expires', async () => {
  let isDown = false;
  const { client, clock } = await setUp({
    faultOf: (request) => (isToken(request) && isDown ? { status: 503, body: '' } : undefined),
    options: { attempts: 1 },
  });
  await read(client);
  isDown = true;
  clock.advance(lifetimeMs * 0.9);
  await read(client);
  await expect.poll(() => grants().length).toBe(2);
  await read(client);
  await read(client);
  expect(grants()).toHaveLength(2); // the background tries again after a pause
  clock.advance(lifetimeMs * 0.2);
  expect(await rejectionOf(read(client))).toMatchObject({ name: 'ResponseError', status: 503 });
  isDown = false;
  await read(client);
});

test("setting the computer's time neither expires a token nor keeps it alive", async () => {
  const client = shared.clientOf(); // with the clock of the computer
  const start = Date.now();
  const { accessToken } = await client.token();
  vi.useFakeTimers({ toFake: ['Date'], now: start + 7_200_000 });
  expect((await client.token()).accessToken).toBe(accessToken);
  vi.setSystemTime(start - 7_200_000);
  expect((await client.token()).accessToken).toBe(accessToken);
});

test('clients with one token store share tokens and take turns to renew them', async () => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client, clock, given } = await setUp({ options: { tokenStore } });
  const { accessToken } = await client.token();
  const other = shared.clientOf(given as ClientOptions, shared.credentials, clock);
  expect((await other.token()).accessToken).toBe(accessToken);
  expect(grants()).toEqual(['client_credentials']);
  clock.advance(lifetimeMs);
  const renewed = await other.token();
  expect(await client.token()).toEqual(renewed);
  expect(grants()).toEqual(['client_credentials', 'refresh_token']);
});

test('stored tokens of another client or token endpoint are ignored', async () => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client, given, clock } = await setUp({ options: { tokenStore } });
  const { accessToken } = await client.token();
  const urls = { baseUrl: shared.service.baseUrl, tokenUrl: `${shared.service.url}/oauth2/token` };
  const elsewhere = shared.clientOf({ ...given, ...urls } as ClientOptions, shared.credentials, clock);
  expect((await elsewhere.token()).accessToken).not.toBe(accessToken);
});

test('a stored token does not outlive its lifetime when the time was set back', async () => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client, given } = await setUp({ options: { tokenStore } });
  await client.token();
  const clock = createManualClock(Date.now() - 7_200_000);
  const other = shared.clientOf(given as ClientOptions, shared.credentials, clock);
  await other.token();
  clock.advance(lifetimeMs);
  await other.token();
  expect(grants()).toHaveLength(2);
});

test('revoke ends the tokens at the service and empties the store', async () => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client } = await setUp({ options: { tokenStore } });
  const { accessToken } = await client.token();
  await client.revoke();
  expect(tokenStore.value).toBeUndefined();
  expect(requests().at(-1)?.path).toBe('/oauth2/revoke');
  await expect.poll(async () => (await shared.service.get('/v1/subscription', accessToken)).status).toBe(401);
  await client.revoke(); // nothing is left to revoke
  await read(client);
});

test('a failed revocation keeps the stored tokens, so that it can be repeated', async () => {
  const tokenStore = createMemoryStore<StoredTokens>();
  const { client } = await setUp({
    options: { tokenStore, attempts: 1 },
    faultOf: ({ path }) => (path === '/oauth2/revoke' ? 'reset' : undefined),
  });
  const { accessToken } = await client.token();
  expect(await rejectionOf(client.revoke())).toMatchObject({ code: 'CONNECTION_LOST' });
  expect(tokenStore.value?.accessToken).toBe(accessToken);
});

test('a client without refresh tokens requests a token with its credentials each time', async () => {
  const tenant = await shared.service.createTenant('no-refresh');
  const created = await shared.service.createClient(tenant, { grants: ['client_credentials'] });
  const { client, clock } = await setUp({
    options: { clientId: created.client_id, clientSecret: created.client_secret },
  });
  await client.token();
  clock.advance(lifetimeMs);
  await client.token();
  expect(grants()).toEqual(['client_credentials', 'client_credentials']);
});

test('the issuer is resolved by its metadata, once', async () => {
  const { given, clock } = await setUp();
  const { issuer } = await (await fetch(`${shared.service.url}/.well-known/oauth-authorization-server`)).json();
  const options = { ...given, tokenUrl: undefined, issuer } as TokenSourceOptions;
  const urls: string[] = [];
  const source = new TokenSource({ ...options, onRequest: ({ url }) => urls.push(url) }, clock);
  const token = await source.token();
  expect(token.expiresAt.getTime()).toBeGreaterThan(clock.wallTime());
  expect(token.scope).toBe('subscription:read');
  clock.advance(lifetimeMs);
  await source.token();
  expect(urls.map((url) => new URL(url).pathname)).toEqual([
    '/.well-known/oauth-authorization-server',
    '/oauth2/token',
    '/oauth2/token',
  ]);
});

test('metadata of OpenID Connect are used if there are none of OAuth; those of another issuer never', async () => {
  const metadata = (issuer: string) => JSON.stringify({ issuer, token_endpoint: `${shared.service.url}/oauth2/token` });
  let issuer = '';
  const { given } = await setUp({
    faultOf: ({ path }) => {
      if (path === '/realms/acme/.well-known/openid-configuration') return { status: 200, body: metadata(issuer) };
      return path.startsWith('/.well-known/oauth') ? { status: 404, body: '' } : undefined;
    },
  });
  const options = { ...given, tokenUrl: undefined, issuer: `${proxy?.url}/realms/acme` } as TokenSourceOptions;
  issuer = 'https://elsewhere.example';
  expect(await rejectionOf(new TokenSource(options).token())).toMatchObject({ code: 'UNKNOWN_FORMAT' });
  issuer = `${proxy?.url}/realms/acme`;
  expect((await new TokenSource(options).token()).accessToken).toMatch(/^ey/);
});

test('an aborted wait for a token leaves the request to the other callers', async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await setUp({ faultOf: (request) => (isToken(request) ? gate.promise : undefined) });
  const controller = new AbortController();
  const aborted = rejectionOf(client.token({ signal: controller.signal }));
  const other = client.token();
  controller.abort('enough');
  expect(await aborted).toBe('enough');
  gate.resolve();
  expect((await other).accessToken).toMatch(/^ey/);
  expect(grants()).toHaveLength(1);
});

test('a token that is issued while revoke is called is revoked as well', async () => {
  const gate = Promise.withResolvers<void>();
  const issued: StoredTokens[] = [];
  const revoked: (string | null)[] = [];
  const store = createMemoryStore<StoredTokens>();
  const tokenStore = {
    load: () => store.value,
    save: (tokens: StoredTokens | undefined) => {
      if (tokens !== undefined) issued.push(tokens);
      store.value = tokens;
    },
  };
  const held: typeof fetch = async (url, init) => {
    const form = new URLSearchParams(String(init?.body));
    if (String(url).endsWith('/revoke')) {
      revoked.push(form.get('token'));
      return new Response();
    }
    const response = await fetch(url, init);
    if (form.get('grant_type') === 'refresh_token') await gate.promise;
    return response;
  };
  const { client, clock } = await setUp({ options: { tokenStore, fetch: held } });
  await client.token();
  clock.advance(lifetimeMs * 0.9);
  await client.token(); // renews in the background
  await expect.poll(() => grants()).toEqual(['client_credentials', 'refresh_token']);
  const revoking = client.revoke();
  // enough for a revocation that does not wait
  await new Promise((resolve) => setImmediate(resolve));
  gate.resolve();
  await revoking;
  await expect.poll(() => issued).toHaveLength(2);
  expect([store.value, revoked]).toEqual([undefined, [issued[1]?.refreshToken]]);
});

test('a secret that the token endpoint repeats is not in the error', async () => {
  const clientSecret = 'a+secret/with=signs';
  const echo = (body: string): Fault => {
    const detail = `unknown: ${clientSecret} in ${body}`;
    return { status: 400, body: JSON.stringify({ error: 'invalid_request', error_description: detail }) };
  };
  const { client } = await setUp({ options: { clientSecret }, faultOf: ({ body }) => echo(body) });
  const error = (await rejectionOf(client.token())) as Error;
  expect(error.message).toBe(
    `unknown: *** in grant_type=client_credentials&client_id=${shared.credentials.client_id}&client_secret=***`,
  );
  expect(inspect(error)).not.toMatch(/a(\+|%2B)secret/);
});

test('a token response and metadata that never end are errors', async () => {
  const { client, given } = await setUp({
    options: { attempts: 1, timeoutMs: 10_000 },
    faultOf: () => ({ endless: ' ' }),
  });
  const tooLong = { code: 'UNKNOWN_FORMAT', message: expect.stringContaining('it must be at most 1048576 bytes') };
  expect(await rejectionOf(client.token())).toMatchObject(tooLong);
  const options = { ...given, tokenUrl: undefined, issuer: proxy?.url, attempts: 1 } as TokenSourceOptions;
  expect(await rejectionOf(new TokenSource(options).token())).toMatchObject(tooLong);
});

test.each(['token_endpoint', 'revocation_endpoint'])(
  'metadata of an issuer on another machine cannot name a %s on this one',
  async (name) => {
    const { given } = await setUp();
    const issuer = 'https://issuer.example';
    const sent: string[] = [];
    const metadata = {
      ...{ issuer, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke` },
      [name]: `${proxy?.url}/oauth2/token`,
    };
    const answer: typeof fetch = async (url) => {
      sent.push(String(url));
      return Object.defineProperty(Response.json(metadata), 'url', { value: String(url) });
    };
    const options = { ...given, tokenUrl: undefined, issuer, fetch: answer } as TokenSourceOptions;
    expect(await rejectionOf(new TokenSource(options).token())).toMatchObject({
      code: 'UNKNOWN_FORMAT',
      message: expect.stringContaining("'https://issuer.example' with endpoints of other machines"),
    });
    expect(sent.filter((url) => !url.startsWith(`${issuer}/.well-known/`))).toEqual([]);
  },
);
