import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connectionErrorOf } from '../../client/error.ts';
import { misshapeOf } from '../../contract/json-value.ts';
import type { OperatorOperation } from '../../contract/operator/operation.ts';
import { type CallOperation, type OperatorApiId, operatorApi } from '../../contract/operator/operations.ts';
import type { Problem } from '../../contract/problem.ts';
import { BoundError, readText } from '../../outgoing/bounds.ts';
import { describeProxy } from '../../outgoing/proxy.ts';
import { openRequest } from '../../outgoing/request.ts';
import { CommandError } from '../../terminal/error.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { causesOf, traceOf } from '../../terminal/reader-action.ts';
import { queryOf, refusalOf } from './operation-call.ts';
import type { Server } from './server.ts';

/** Operations that end when all their work is done. */
const longOperations: readonly OperatorApiId[] = ['deleteTenant', 'eraseSubscriptions', 'runDoctor'];

/** Longest wait for a response, in milliseconds: `doctor` ends after an hour. */
const longMs = 3_900_000;
/** For other operations: REQUEST_SECONDS_MAX is at most 60. */
const shortMs = 120_000;

export const callOn =
  (server: Server): CallOperation =>
  async (id, { params = {}, query = {}, body } = {}) => {
    const { method, path, response }: OperatorOperation = operatorApi[id];
    const text = await send(server, {
      method,
      path: pathOf(path, params) + queryOf(query),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      kind: response.mediaType === undefined ? 'json' : 'lines',
      silenceMs: longOperations.includes(id) ? longMs : shortMs,
    });
    if (response.mediaType !== undefined) return text as never;
    const answer = parseJson(server, text);
    const fault = misshapeOf(response.schema, answer, 'its body');
    if (fault !== undefined) throw responseError(server, fault);
    return answer as never;
  };

/** Replaces each `{name}` of a path. */
export const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

/** Parses the body of a successful response. */
export function parseJson(server: Server, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw responseError(server, 'its body is not JSON');
  }
}

interface ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Buffer> | undefined;
  /** What a successful response is; it is JSON without this. */
  readonly kind?: 'json' | 'lines';
  /**
   * Longest silence while the request is sent, and then the longest time until the response is
   * complete, in milliseconds.
   */
  readonly silenceMs: number;
}

/** Longest wait for a proxy to connect. */
const connectMs = 10_000;
export const serverLimits = { connectMs, shortMs, longMs } as const;

/** Sends a request, and returns the text of the response. Throws `CommandError` or `UsageError`. */
export async function send(server: Server, request: ServerRequest): Promise<string> {
  const correlationId = randomUUID();
  const { status, text } = await receive(server, request, correlationId);
  if (status >= 200 && status < 300) return text;
  throw rejectionOf(server, { status, text }, correlationId);
}

async function receive(server: Server, request: ServerRequest, correlationId: string): Promise<Reply> {
  try {
    const response = await open(server, request, correlationId);
    const { statusCode: status = 0 } = response;
    const kind = status < 300 ? request.kind : 'json';
    const text = await readText(response, new URL(server.url).origin, kind);
    return { status, text };
  } catch (error) {
    if (error instanceof BoundError) throw responseError(server, `it exceeds ${error.rule}`, correlationId);
    const failure = connectionErrorOf(server.url, error, { correlationId, attempts: 1 });
    const trace = traceOf(failure);
    const isUnsent = trace.length === 0;
    const doubt = isUnsent || request.method === 'GET' ? [] : ['The server may have received the request.'];
    const message = `${failure.message}${describeProxy(server.url)}`;
    throw new CommandError([message, ...causesOf(failure), ...doubt, ...trace].join('\n'));
  }
}

/** Opens a request; resolves with the response, whose body is not read yet. */
function open({ url, token }: Server, request: ServerRequest, correlationId: string): Promise<IncomingMessage> {
  const { method, path, headers, body, silenceMs } = request;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = openRequest(new URL(`${url}${path}`), {
    method,
    timeout: connectMs,
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      'user-agent': `subreport/${packageVersion}`,
      'x-correlation-id': correlationId,
    },
  });
  const giveUp = (): void => void outgoing.destroy(new Error(`no response within ${silenceMs / 1000} s`));
  // until then, a proxy opens the tunnel
  outgoing.on('socket', () => outgoing.setTimeout(silenceMs));
  outgoing.on('response', resolve).on('error', reject).on('timeout', giveUp);
  outgoing.on('finish', () => {
    const timer = setTimeout(giveUp, silenceMs);
    outgoing.on('close', () => clearTimeout(timer));
  });
  if (body === undefined || typeof body === 'string') outgoing.end(body);
  else pipeline(Readable.from(body), outgoing).catch(reject);
  return promise;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** The error of a response that is not successful: all its sentences, and its correlation id. */
function rejectionOf(server: Server, { status, text }: Reply, correlationId: string): Error {
  const { type, messages, correlation_id: id = correlationId } = parseProblem(text);
  // of a proxy
  if (!Array.isArray(messages)) return responseError(server, `its status was ${status}`, id);
  return refusalOf(type, messages, [`Correlation id: ${id}`]);
}

function responseError({ url }: Server, what: string, correlationId?: string): CommandError {
  const id = correlationId === undefined ? [] : [`Correlation id: ${correlationId}`];
  const message = `Cannot use the response of ${new URL(url).origin}: it must be of the operator's API (MANAGEMENT_PORT): ${what}`;
  return new CommandError([message, ...id].join('\n'));
}

function parseProblem(text: string): Partial<Problem> {
  try {
    return (JSON.parse(text) as Problem | null) ?? {};
  } catch {
    return {}; // not a problem document; the caller reports it
  }
}
