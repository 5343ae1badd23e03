import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ErrorCode, errorTable } from '../contract/error.ts';
import { buildProblem } from '../contract/problem.ts';
import { correlationHeader } from './correlation.ts';

/** What Node's parser reports before there is a request, by its error code. */
const codes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: [
    'HEADERS_TOO_LARGE',
    'Cannot read the request: its headers must have at most 16384 bytes together',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'REQUEST_TIMEOUT',
    'Cannot read the request: it must arrive within 10 seconds, its headers within 5',
  ],
};
const otherwise = ['INVALID_HTTP_MESSAGE', 'Cannot read the request: it must be HTTP/1.1'] as const;

/** Answers bytes that are not a request in the same shape as every other error, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = codes[error.code ?? ''] ?? otherwise;
  const { status, title } = errorTable[code];
  const correlationId = randomUUID();
  const body = JSON.stringify(buildProblem({ code, messages: [message] }, correlationId));
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `${correlationHeader}: ${correlationId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
