import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { consoleIsBuilt } from '../../http/console/pages.ts';

const report = '/connect-api/v1/subscription';
let secure: TestService;
let plain: TestService;
let token: string;

beforeAll(async () => {
  secure = await startService(await engines[0].openTestStore(), { PUBLIC_URL: 'https://reports.example.com' });
  plain = await startService(await engines[0].openTestStore());
  token = await secure.accessToken(await secure.createClient(await secure.createTenant('acme')));
});
afterAll(() => Promise.all([secure.close(), plain.close()]));

/** Sends bytes that are not a request, and returns the headers of the response. */
function sendRaw(url: string, bytes: string): Promise<Headers> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(bytes);
  return Array.fromAsync(socket as AsyncIterable<Buffer>).then((chunks) => {
    const [, ...lines] = Buffer.concat(chunks).toString().split('\r\n\r\n', 1)[0]?.split('\r\n') ?? [];
    return new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
  });
}

/** Responses of every kind: pages, errors, redirects, and requests that never reached a route. */
const kinds: Readonly<Record<string, () => Promise<Headers>>> = {
  'a report': () => headersOf(report),
  'a repeated report': () => headersOf(report),
  'a report that is not modified': async () => {
    const etag = (await headersOf(report)).get('etag') ?? '';
    return headersOf(report, { 'if-none-match': etag });
  },
  'a whole report': () => headersOf(`${report}?all=true&format=ndjson`),
  'a bad query': () => headersOf(`${report}?size=0`),
  'no token': () => headersOf(report, { authorization: '' }),
  'an unknown path': () => headersOf('/nothing'),
  'a bad encoding': () => headersOf('/%ZZ'),
  'a token request': async () => (await secure.postToken('grant_type=client_credentials')).headers,
  'the key set': () => headersOf('/oauth2/jwks'),
  health: () => headersOf('/healthz'),
  'the contract': () => headersOf('/openapi.json'),
  'the redirect at /': () => headersOf('/'),
  'the docs': () => headersOf('/docs'),
  'a file of the docs': () => headersOf('/docs/reference.css'),
  ...(consoleIsBuilt() && { 'the console': () => headersOf('/console') }),
  'bytes that are no request': () => sendRaw(secure.url, 'nonsense\r\n\r\n'),
};

async function headersOf(path: string, headers: Record<string, string> = {}, service = secure): Promise<Headers> {
  const given = { authorization: `Bearer ${token}`, ...headers };
  const response = await fetch(service.url + path, { headers: given, redirect: 'manual' });
  await response.arrayBuffer();
  return response.headers;
}

test.each(Object.entries(kinds))(
  'the response to %s is protected from sniffing, framing, scripts, referrers and plain http (3.4.1-3.4.6)',
  async (_kind, ask) => {
    const headers = await ask();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    const policy = (headers.get('content-security-policy') ?? '').split('; ');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy.some((each) => each === "default-src 'none'" || each === "object-src 'none'")).toBe(true);
  },
);

test('over plain http there is no Strict-Transport-Security, which browsers would remember for this host', async () => {
  expect((await headersOf('/healthz', {}, plain)).has('strict-transport-security')).toBe(false);
  expect((await sendRaw(plain.url, 'nonsense\r\n\r\n')).has('strict-transport-security')).toBe(false);
});
