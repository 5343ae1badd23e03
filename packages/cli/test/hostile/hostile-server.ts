import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** Responds to a request; the secret is the one that the program has sent before. */
export type Hostility = (response: ServerResponse, request: IncomingMessage) => void;

export const secret = 'q7Z2kVb9/XcN4+mRt8LwPyD3sGfHjA6uEe';

/** Writes as long as the reader accepts it, up to `bytesMax`. */
function pour(response: ServerResponse, text: string, bytesMax = Number.POSITIVE_INFINITY): void {
  const part = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  let bytes = 0;
  const parts = new Readable({
    read() {
      bytes += part.length;
      this.push(bytes > bytesMax ? null : part);
    },
  });
  response.on('close', () => parts.destroy());
  parts.pipe(response);
}

/** Writes a character every 50 ms, which is a second of a watched process. */
function drip(response: ServerResponse, write: () => void): void {
  const timer = setInterval(write, 50);
  response.on('close', () => clearInterval(timer));
}

const jsonHeaders = {
  'content-type': 'application/json',
  'x-total-count': '1',
  'preference-applied': 'export-summary',
};

/** What leaves a program must show none of these. */
export const secretForms = [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ secret }).toString().slice('secret='.length),
  Buffer.from(secret).toString('base64'),
  Buffer.from(`acme:${secret}`).toString('base64'),
];

const nasty = `${secretForms.join(' ')} \u001b[2J\u009b31m\u202eFORGED\r\nFORGED line\u2028FORGED`;

const problem = (status: number) => ({
  type: status === 401 ? 'UNAUTHORISED' : 'INVALID_REQUEST_PARAMS',
  title: nasty,
  status,
  detail: nasty,
  messages: [nasty, `Cannot use parameter '${nasty}'`],
  errors: [{ parameter: nasty, value: nasty, rule: nasty }],
  correlation_id: nasty,
  error: 'invalid_client',
  error_description: nasty,
});

/** An error whose members have other types than they must. */
const wrongTypes = { type: 'INVALID_REQUEST_PARAMS', detail: [[]], messages: 7, errors: {}, correlation_id: { a: [] } };

/** Where a redirect leads; a program that follows it sends its credentials there. */
export const trap = { requests: 0 };

/** A program may succeed with them, as it reads one page. */
export const bearable = ['an empty page with a next link'];

export const hostilities: Readonly<Record<string, Hostility>> = {
  '60 MB of nested arrays': (response) => {
    response.writeHead(200, jsonHeaders);
    pour(response, '[', 60_000_000);
  },
  '7 MB of nested arrays': (response) => {
    response.writeHead(200, jsonHeaders);
    pour(response, '[', 7_000_000);
  },
  '60 MB of values without content': (response) => {
    response.writeHead(200, jsonHeaders);
    response.write('[');
    pour(response, '{},', 60_000_000);
  },
  'nested arrays in each line': (response) => {
    response.writeHead(200, { ...jsonHeaders, 'content-type': 'application/x-ndjson', 'x-total-count': '1000' });
    pour(response, `${'['.repeat(1_000_000)}\n`, 60_000_000);
  },
  'an endless body': (response) => {
    response.writeHead(200, jsonHeaders);
    pour(response, ' ');
  },
  'an endless error': (response) => {
    response.writeHead(400, { 'content-type': 'application/problem+json' });
    pour(response, ' ');
  },
  'a head that drips': (response) => {
    const { socket } = response;
    socket?.write('HTTP/1.1 200 OK\r\n');
    drip(response, () => socket?.write('x: y\r\n'));
  },
  'a body that drips': (response) => {
    response.writeHead(200, jsonHeaders);
    drip(response, () => response.write(' '));
  },
  'a redirect with credentials': (response, { url }) => {
    const target = `http://user:${encodeURIComponent(secret)}@${response.req.headers.host}/trap?secret=${encodeURIComponent(secret)}&${url}`;
    response.writeHead(307, { location: target }).end();
  },
  'an error that echoes': (response) => {
    response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem(400)));
  },
  'a rejection that echoes': (response) => {
    response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem(401)));
  },
  'an error with other types': (response) => {
    response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(wrongTypes));
  },
  'no JSON': (response) => {
    response.writeHead(200, { 'content-type': `text/html; ${encodeURIComponent(secret)}` }).end(`<b>${nasty}</b>`);
  },
  'an object without members': (response) => {
    response.writeHead(200, jsonHeaders).end('{}');
  },
  'values of other types': (response) => {
    response.writeHead(200, { ...jsonHeaders, 'x-total-count': '3' }).end('[null,7,{}]');
  },
  'an empty page with a next link': (response, { headers, url }) => {
    const next = `http://${headers.host}${url}&page=2`;
    response.writeHead(200, { ...jsonHeaders, 'x-next-page': next, link: `<${next}>; rel="next"` }).end('[]');
  },
};

const honest = (response: ServerResponse, body: string): void =>
  void response.writeHead(200, { 'content-type': 'application/json', 'x-revision': '2' }).end(body);

/**
 * A server that sends what the first segment of the path names: `/3/…` is the fourth hostility. It
 * is honest below `/3/honest/`, with tokens and a change.
 */
export async function startHostile() {
  const respond: RequestListener = (request, response) => {
    request.resume();
    const { url = '' } = request;
    const [, index, path = ''] = /^(?:\/\.well-known\/[\w-]+)?\/(\d+)(?:\/(.*))?$/s.exec(url) ?? [];
    if (url.startsWith('/trap')) trap.requests += 1;
    if (path === 'honest/token')
      honest(response, '{"access_token":"abc.def.ghi","token_type":"Bearer","expires_in":300}');
    else if (path.startsWith('honest/connect-api/v1/subscription/changes'))
      honest(response, '{"changes":[{"id":"c3Vi","removed":true}],"next":"abd","has_more":false}');
    else Object.values(hostilities)[Number(index)]?.(response, request);
  };
  const server = createServer(respond);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (name: string) => `http://127.0.0.1:${port}/${Object.keys(hostilities).indexOf(name)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
