import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { errorTable } from '../../../contract/error.ts';
import type { ErrorCode } from '../../../contract/error-code.ts';
import { buildProblem } from '../../../contract/problem.ts';
import { correlationHeader } from './default-headers.ts';
import { retryAfterSeconds } from './send-error.ts';

/** An error of Node's parser: the bytes are not a request. */
interface ClientError extends Error {
  readonly code?: string | undefined;
  /** The bytes that were being parsed; the request may have begun in earlier ones. */
  readonly rawPacket?: unknown;
  /** Offset at which the parser stopped. */
  readonly bytesParsed?: number | undefined;
}

type Refusal = readonly [ErrorCode, string];

/** What Node's parser and `limitConnections` report before there is a request, by error code. */
const codes: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [
    'HEADERS_TOO_LARGE',
    'Cannot read the request: its headers must have at most 16384 bytes in total',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'REQUEST_TIMEOUT',
    'Cannot read the request: it must arrive within 6 seconds, its headers within 5',
  ],
  TOO_MANY_CONNECTIONS: [
    'TOO_MANY_REQUESTS',
    'Cannot accept another connection: its address has too many open ones; reuse them',
  ],
};
const invalid = (rule: string): Refusal => ['INVALID_HTTP_MESSAGE', `Cannot read the request: ${rule}`];
const notHttp = invalid('it must be HTTP/1.1, with a method such as GET');

const lengthRule =
  'the length of its body must be given once, by Content-Length, such as 42, or by Transfer-Encoding: chunked';

/** Rules that the parser found broken, by its error code. */
const rules: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'it must be complete: the connection was closed before its end',
  HPE_INVALID_CONTENT_LENGTH: lengthRule,
  HPE_UNEXPECTED_CONTENT_LENGTH: lengthRule,
  HPE_INVALID_TRANSFER_ENCODING: lengthRule,
  HPE_INVALID_CHUNK_SIZE: lengthRule,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'the extensions of its chunks must be short, or absent',
  HPE_INVALID_URL: 'its target must be a path in percent-encoded ASCII, such as /docs?q=%20',
  HPE_INVALID_HEADER_TOKEN: 'each header must be a name, a colon and a value, such as Accept: text/csv',
};

/** Says which rule the bytes break. */
function describeUnreadable(error: ClientError): Refusal {
  const rule = rules[error.code ?? ''];
  return codes[error.code ?? ''] ?? describeHeader(error) ?? (rule === undefined ? notHttp : invalid(rule));
}

/**
 * The response that a connection is sending, for which Node.js has no public name. A second
 * response written now would be taken for the body of the first.
 */
const responseOf = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage;

/**
 * Makes the function that responds to unparsable bytes with a problem like any other error, logs
 * them, and closes the connection. If they follow a request whose response has begun, it cuts that
 * response.
 */
export function createClientErrorHandler(
  logger: Pick<FastifyBaseLogger, 'info'>,
  headers: Readonly<Record<string, string>>,
): (error: ClientError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // what follows the last request of a connection is not read (RFC 9112 §9.6)
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const { remoteAddress: address = null } = socket;
    if (responseOf(socket)?.headersSent === true) {
      socket.destroy();
      logger.info({ reason: error.code, address }, 'response cut: unreadable bytes followed its request');
      return;
    }
    const [code, message] = describeUnreadable(error);
    const { status, title } = errorTable[code];
    const correlationId = randomUUID();
    const body = JSON.stringify(buildProblem({ code, messages: [message] }, correlationId));
    const fields = {
      connection: 'close',
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...(code === 'TOO_MANY_REQUESTS' && { 'retry-after': retryAfterSeconds }),
      ...headers,
      [correlationHeader]: correlationId,
    };
    const head = [`HTTP/1.1 ${status} ${title}`, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    const what = code === 'TOO_MANY_REQUESTS' ? 'connection refused' : 'unreadable request';
    logger.info({ correlation_id: correlationId, status, reason: error.code, address }, what);
  };
}

/** Parser errors about the value of a header. */
const ofValues = ['HPE_INVALID_HEADER_TOKEN', 'HPE_LF_EXPECTED', 'HPE_CR_EXPECTED'];

/** Names the header whose value the parser rejects, if its line is in the current bytes. */
function describeHeader({ code = '', rawPacket, bytesParsed = 0 }: ClientError): Refusal | undefined {
  if (!(rawPacket instanceof Buffer) || !ofValues.includes(code)) return undefined;
  const read = rawPacket.toString('latin1', 0, bytesParsed);
  const name = /\n([A-Za-z0-9_-]{1,64}):[^\n]*$/.exec(read)?.[1];
  if (name === undefined) return undefined;
  return invalid(`the header '${name}' must not contain control characters`);
}
