import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn } from '../../../../test/support/console-session.ts';
import { openSqlite } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

/**
 * The headers that requests are read by. `once`: a second one is rejected. `list`: several are one
 * list (RFC 9110 §5.3). `joined`: Node joins several, and the result is harmless. `parser`: Node's
 * parser has checked it.
 */
const headers: Readonly<Record<string, 'once' | 'list' | 'joined' | 'parser'>> = {
  host: 'once',
  authorization: 'once',
  'content-type': 'once',
  origin: 'once',
  'sec-fetch-site': 'once',
  accept: 'list',
  'accept-encoding': 'list',
  'content-encoding': 'list',
  'if-none-match': 'list',
  prefer: 'list',
  via: 'list',
  'x-forwarded-for': 'list',
  'transfer-encoding': 'list', // of which only one coding is accepted
  // two that scripts of other pages cannot add: neither is used
  cookie: 'joined',
  // both ids are in the log
  'x-correlation-id': 'joined',
  'x-background': 'joined',
  'content-range': 'joined', // rejected, whatever it is
  // invalid, so a new trace begins (W3C Trace Context)
  traceparent: 'joined',
  tracestate: 'list',
  'content-length': 'parser',
  // read by Node
  connection: 'list',
  expect: 'list',
};

let service: TestService;
let management: TestManagement;
const read = new Set<string>();

/** Notes the headers of a request that are read. */
const watch = (message: unknown): void => {
  const { request: incoming } = message as { readonly request: IncomingMessage };
  incoming.headers = new Proxy(incoming.headers, {
    get(target, name) {
      if (typeof name === 'string' && !name.startsWith(':')) read.add(name);
      return Reflect.get(target, name);
    },
  });
};

let operations: string;
beforeAll(async () => {
  subscribe('http.server.request.start', watch);
  service = await startService(await openSqlite());
  management = await startManagement(await openSqlite());
  operations = `${await management.app.listen({ host: '127.0.0.1', port: 0 })}/operator/v1`;
});
afterAll(async () => {
  unsubscribe('http.server.request.start', watch);
  await Promise.all([service.close(), management.close()]);
});

async function send(
  url: string,
  method: string,
  fields: OutgoingHttpHeaders | string[],
  body = '',
): Promise<IncomingMessage> {
  const sending = request(url, { method, headers: fields, setHost: !Array.isArray(fields) });
  sending.end(body);
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response;
}

test('each header that the service reads is known to be a list, or rejected if it is repeated', async () => {
  const tenant = await service.createTenant('acme');
  const client = await service.createClient(tenant);
  const { cookie, send: sendByPage } = await signIn(service.url, client);
  expect((await sendByPage('/connect-api/v1/subscription', { headers: { 'x-background': '1' } })).status).toBe(200);
  const authorization = `Bearer ${await service.accessToken(client)}`;
  const all = { authorization, accept: '*/*', 'accept-encoding': 'gzip', 'x-correlation-id': 'a', traceparent: 'b' };
  const report = `${service.baseUrl}/v1/subscription`;
  await send(`${report}?all=true&format=csv`, 'GET', { ...all, 'if-none-match': '*', prefer: 'a', via: '1.1 a' });
  await send(`${report}/search`, 'POST', { ...all, 'content-type': 'application/json' }, '{}');
  await send(`${service.url}/console/sign-in`, 'GET', { cookie });
  await send(`${service.url}/docs`, 'GET', { accept: 'text/html' });
  const tenants = `${operations}/tenants`;
  const operator = `Bearer ${await management.operatorToken('operator:write', 'operator:read', 'subscription:write')}`;
  const json = { authorization: operator, 'content-type': 'application/json' };
  expect((await send(tenants, 'POST', json, '{"tenant":"acme"}')).statusCode).toBe(201);
  const ndjson = { authorization: operator, 'content-type': 'application/x-ndjson' };
  expect((await send(`${tenants}/acme/subscriptions`, 'PUT', ndjson, '')).statusCode).toBe(200);
  expect([...read].filter((name) => headers[name] === undefined)).toEqual([]);
});

test.each(Object.keys(headers).filter((name) => headers[name] === 'once'))(
  'a request with two of the header %s is rejected, on both listeners',
  async (name) => {
    for (const host of [new URL(service.url).host, new URL(operations).host]) {
      const value = name === 'host' ? host : 'a';
      const fields = ['connection', 'close', ...(name === 'host' ? [] : ['host', host]), name, value, name, value];
      const response = await send(`http://${host}/healthz`, 'GET', fields);
      expect(response.statusCode).toBe(400);
    }
  },
);
