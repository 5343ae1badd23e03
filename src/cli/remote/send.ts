import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionErrorOf } from '../../client/connection-error.ts';
import { CommandError } from '../error.ts';
import { packageVersion } from '../package-version.ts';
import { type Reply, rejectionOf } from './rejection.ts';
import type { Server } from './server.ts';

/** A request below the URL of a server. */
interface ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream can be sent once. */
  readonly body?: string | AsyncIterable<Buffer> | undefined;
  /** Longest silence of the connection, in milliseconds. */
  readonly silenceMs: number;
  /** Whether the request may be sent again after its connection failed. */
  readonly isRepeatable: boolean;
}

const attemptsMax = 3;
/** Wait before a request is sent again after its connection failed. */
const reconnectMs = 500;
/** Longest `Retry-After` that is waited for. */
const waitMsMax = 60_000;

/**
 * Sends a request and returns the text of the response. It is sent up to three times if the
 * connection fails, or if the server asks to wait. Throws `CommandError` or `UsageError`.
 */
export async function send(server: Server, request: ServerRequest): Promise<string> {
  const correlationId = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    const reply = await attemptOnce(server, request, correlationId);
    if (!(reply instanceof Error) && reply.status >= 200 && reply.status < 300) return reply.text;
    const waitMs = attempt < attemptsMax ? waitAfter(reply, request) : undefined;
    if (waitMs === undefined) throw reply instanceof Error ? reply : rejectionOf(server, reply, correlationId);
    await sleep(waitMs);
  }
}

/** Milliseconds until the next attempt; `undefined` if there must be none. */
function waitAfter(reply: Reply | CommandError, { body, isRepeatable }: ServerRequest): number | undefined {
  if (body !== undefined && typeof body !== 'string') return undefined;
  if (reply instanceof Error) return isRepeatable ? reconnectMs : undefined;
  if (reply.status !== 429 && reply.status !== 503) return undefined;
  const waitMs = Number(reply.retryAfter ?? Number.NaN) * 1000;
  return waitMs <= waitMsMax ? waitMs : undefined;
}

/** Sends a request once; returns the error of its connection. */
async function attemptOnce(
  server: Server,
  request: ServerRequest,
  correlationId: string,
): Promise<Reply | CommandError> {
  try {
    const response = await open(server, request, correlationId);
    const { statusCode: status = 0, headers } = response;
    return { status, retryAfter: headers['retry-after'], text: await text(response) };
  } catch (error) {
    const { code, message } = connectionErrorOf(server.url, error, { correlationId, attempts: 1 });
    const isUnsent = ['CONNECTION_REFUSED', 'HOST_NOT_FOUND', 'CERTIFICATE_REJECTED'].includes(code);
    const doubt = isUnsent || request.method === 'GET' ? [] : ['The server may have received the request.'];
    return new CommandError([message, ...doubt, `Correlation id: ${correlationId}`].join('\n'));
  }
}

/** Opens a request; resolves with the response, whose body is not read yet. */
// fetch gives up on a response after 300 s, but a deletion or a check may take an hour
function open({ url, token }: Server, request: ServerRequest, correlationId: string): Promise<IncomingMessage> {
  const { method, path, headers, body, silenceMs } = request;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const requestUrl = url.startsWith('https:') ? requestHttps : requestHttp;
  const outgoing = requestUrl(
    `${url}${path}`,
    {
      method,
      agent: false,
      timeout: silenceMs,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        'user-agent': `subreport/${packageVersion}`,
        'x-correlation-id': correlationId,
      },
    },
    resolve,
  );
  outgoing.on('error', reject);
  outgoing.on('timeout', () => outgoing.destroy(new Error(`no response within ${silenceMs / 1000} s`)));
  if (body === undefined || typeof body === 'string') outgoing.end(body);
  else pipeline(Readable.from(body), outgoing).catch(reject);
  return promise;
}
