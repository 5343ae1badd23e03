import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasTools } from '../../../test/support/has-tools.ts';
import { waitMsMax } from '../../../test/support/wait-limit.ts';

// The Python client with servers that want its memory, its time, its secrets or its terminal.

const program = fileURLToPath(new URL('python_hostile.py', import.meta.url));
const secret = 'q7Z2kVb9+XcN4/mRt8';
const accessToken = 'access.token+of/acme==';
const spellings = [secret, accessToken].flatMap((text) => [
  text,
  encodeURIComponent(text),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
]);

interface Outcome {
  readonly name: string;
  readonly code: string | null;
  readonly message: string;
  readonly problem: unknown;
  readonly grown: number;
  readonly shadowed: readonly string[];
}

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

/** Sends a text for ever, or `mebibytes` of it. */
const flood =
  (text: string, mebibytes = Number.POSITIVE_INFINITY, start = '', status = 200): Respond =>
  (response) => {
    const part = Buffer.from(text.repeat(65_536 / text.length));
    let left = mebibytes * 16;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write(start);
    const write = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(part)) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  };

/** Sends a byte now and then, for ever: after a head, or within it. */
const drip =
  (start: string): Respond =>
  ({ socket }) => {
    socket?.write(start);
    const timer = setInterval(() => socket?.write('x'), 50);
    socket?.on('close', () => clearInterval(timer)).on('error', () => undefined);
  };

const send =
  (status: number, body: string | object, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));

const tokens = send(200, { access_token: accessToken, expires_in: 300 });

describe.runIf(hasTools('python3'))('the Python client', () => {
  let server: Server;
  let url: string;
  let [respondReport, respondToken]: [Respond, Respond] = [tokens, tokens];
  const seen: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      seen.push(`${request.method} ${request.url}`);
      (request.url?.endsWith('/token') ? respondToken : respondReport)(response, request);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    respondToken = tokens;
    seen.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Reads the report in a process of its own. */
  function read(more: object = {}, variables: Record<string, string> = {}): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const environment = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...variables };
    const child = execFile('python3', [program], { env: environment, timeout: waitMsMax }, (error, out, text) =>
      error === null ? resolve(JSON.parse(out)) : reject(new Error(text, { cause: error })),
    );
    const urls = { base_url: `${url}/connect-api`, token_url: `${url}/token` };
    child.stdin?.end(
      JSON.stringify({ ...urls, client_id: 'acme', client_secret: secret, attempts: 1, timeout_ms: 30_000, ...more }),
    );
    return promise;
  }

  test('follows JSON alike wherever it is cut, reads each byte once, and parses UTF-8 alone', async () => {
    const bounds = fileURLToPath(new URL('python_bounds.py', import.meta.url));
    const environment = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await promisify(execFile)('python3', [bounds], { env: environment, timeout: waitMsMax });
    expect(stdout).toBe('');
  });

  const rule = 'JSON with at most 500,000 values, at most 16 levels deep';
  test.each<[string, Respond, string]>([
    ['60 MB of nested arrays', flood('[', 60), rule],
    ['60 MB of nested objects', flood('{"a":', 60), rule],
    ['60 MB of small values', flood('1,', 60, '['), rule],
    ['60 MB of empty objects', flood('{},', 60, '['), rule],
    ['a string that never ends', flood('a', undefined, '["'), 'at most 33554432 bytes'],
    ['a string of escapes that never ends', flood('\\"', undefined, '["'), 'at most 33554432 bytes'],
    ['blanks that never end', flood(' '), 'at most 33554432 bytes'],
  ])('rejects %s within 128 MiB', async (_what, respond, expected) => {
    respondReport = respond;
    const { code, message, grown } = await read();
    expect([code, message]).toEqual(['UNKNOWN_FORMAT', `Cannot read the response of ${url}: it must be ${expected}`]);
    expect(grown).toBeLessThan(128 * 2 ** 20);
  });

  test('rejects a token response and a problem that are nested', async () => {
    respondToken = flood('[', 60);
    expect((await read()).message).toContain(rule);
    respondToken = tokens;
    respondReport = flood('[', 60, '', 400);
    expect((await read()).message).toContain(rule);
  });

  test('rejects a Retry-After of 5,000 digits as an answer to wait', async () => {
    respondReport = send(429, {}, { 'retry-after': '9'.repeat(5_000) });
    expect(await read({ attempts: 3 })).toMatchObject({ name: 'ResponseError', code: 'UNKNOWN_ERROR' });
  });

  test.each(['x-total-count', 'x-total-pages', 'x-current-page'])(
    'reads a page whose %s is no number',
    async (name) => {
      for (const value of ['many', '-1', '9'.repeat(5_000)]) {
        respondReport = send(200, '[]', { [name]: value });
        expect(await read()).toMatchObject({ name: 'NoneType', message: '' });
      }
    },
  );

  test.each<[string, Respond]>([
    ['a status line', drip('HTTP/1.1 ')],
    ['a head', drip('HTTP/1.1 200 OK\r\nx-drip: ')],
    ['a body', drip('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[')],
    ['a body in chunks', drip('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')],
  ])('ends when its time is over and %s still drips', async (_what, respond) => {
    respondReport = respond;
    const { name, code, message } = await read({ timeout_ms: 1_000 });
    expect([name, code]).toEqual(['DeadlineError', 'TIMEOUT']);
    expect(message).toBe(`Cannot reach ${url}: it must respond within 1000 ms`);
    respondToken = respond;
    expect((await read({ timeout_ms: 1_000 })).code).toBe('TIMEOUT');
  });

  const control = 'a\u001b[31mb\nc\u009b2Jd\u202ee\u2028f\u0000';
  const clean = 'a\ufffd[31mb\ufffdc\ufffd2Jd\ufffde\ufffdf\ufffd';
  test('shows no secret and no control character of a response', async () => {
    const echo = spellings.join(' ');
    respondToken = send(400, { error: 'invalid_grant', error_description: `${control} ${echo}` });
    const ofToken = await read();
    respondToken = tokens;
    respondReport = send(400, {
      type: 'INVALID_REQUEST_PARAMS',
      detail: `${control} ${echo}`,
      messages: [echo],
      errors: [{ parameter: control, value: echo }],
    });
    const ofReport = await read();
    respondReport = send(302, '', {
      location: `https://user:pass@evil.example/a?hint=ada@example.com&token=${encodeURIComponent(accessToken)}#b`,
    });
    const ofRedirect = await read();
    expect(ofToken.message.startsWith(clean)).toBe(true);
    expect(ofReport.message.startsWith(clean)).toBe(true);
    expect(ofRedirect.message.endsWith("the redirect leads to 'https://evil.example/a'")).toBe(true);
    // the token endpoint got the one, the report the other
    const own = (text: string) => spellings.slice(0, 3).filter((each) => text.includes(each));
    const sent = (text: string) => spellings.slice(3).filter((each) => text.includes(each));
    expect(own(JSON.stringify(ofToken))).toEqual([]);
    expect(sent(JSON.stringify(ofReport))).toEqual([]);
    expect(sent(JSON.stringify(ofRedirect))).toEqual([]);
  });

  test('takes nothing but an array for a report, not even an empty object', async () => {
    for (const body of ['{}', '""', '0', '{"message":"quota"}']) {
      respondReport = send(200, body);
      const message = `Cannot read the response of ${url}: it must be a JSON array of records`;
      expect(await read()).toMatchObject({ name: 'ResponseError', code: 'UNKNOWN_FORMAT', message });
    }
  });

  test('ends at an empty page that has a next link', async () => {
    respondReport = send(200, [], { 'x-next-page': `${url}/connect-api/v1/subscription?page=2` });
    const { name, message } = await read();
    expect([name, message]).toEqual([
      'ValueError',
      expect.stringContaining('the response must have X-Next-Page with a new cursor or page, and records: '),
    ]);
    expect(seen.length).toBe(2);
  });

  test('sends nothing for this machine to a proxy, and all else', async () => {
    respondReport = send(200, []);
    const nowhere = { http_proxy: 'http://user:pass@127.0.0.1:1', https_proxy: 'http://user:pass@127.0.0.1:1' };
    expect(await read({}, nowhere)).toMatchObject({ code: null, message: '' });
    const elsewhere = { base_url: 'http://reports.invalid/connect-api', allow_http: true };
    seen.length = 0;
    expect(await read(elsewhere, { http_proxy: url })).toMatchObject({ code: null, message: '' });
    expect(seen).toEqual(['POST /token', 'GET http://reports.invalid/connect-api/v1/subscription?size=1000']);
    const rule = 'it must accept the request and respond: the connection was refused: through the proxy 127.0.0.1:1';
    expect((await read(elsewhere, nowhere)).message).toBe(`Cannot reach http://reports.invalid: ${rule}`);
    const secure = { base_url: 'https://reports.invalid/connect-api' };
    expect((await read(secure, nowhere)).message).toBe(`Cannot reach https://reports.invalid: ${rule}`);
    expect(await read(elsewhere, { http_proxy: url, no_proxy: 'reports.invalid' })).toMatchObject({
      code: 'HOST_NOT_FOUND',
    });
  });

  test.each([`${secret}\n`, `${secret}\r\n`])('names a secret with a line break at its end', async (client_secret) => {
    const { name, message } = await read({ client_secret });
    const faults = 'client_secret must have no line break, such as that at the end of a file';
    expect([name, message, seen]).toEqual(['ValueError', `Cannot request tokens: ${faults}`, []]);
  });

  test('names the issuer that it found instead of the given one', async () => {
    respondReport = send(200, { issuer: 'http://localhost:8080', token_endpoint: `${url}/token` });
    const { message } = await read({ token_url: null, issuer: url });
    const expected = `the metadata of issuer '${url}' with its token_endpoint: its issuer is 'http://localhost:8080'`;
    expect(message).toBe(`Cannot read the response of ${url}: it must be ${expected}`);
  });

  test('has no name of a builtin', async () => {
    expect((await read()).shadowed).toEqual([]);
  });
});
