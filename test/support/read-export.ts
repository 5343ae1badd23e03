import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** A whole report as it arrived. */
export interface ReceivedExport {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: IncomingMessage['trailers'];
  readonly text: string;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
}

/**
 * Sends a GET on a connection of its own and gives the answer as soon as its headers are there,
 * with nothing of its body read.
 */
export async function openExport(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const request = get(url, { agent: false, headers: { authorization: `Bearer ${token}`, ...headers } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined); // a connection that breaks is told by the response
  return response;
}

/**
 * Reads a report to its end, with a pause after each chunk; rejects when the connection breaks
 * before.
 */
export async function finishExport(
  response: IncomingMessage,
  pause: () => Promise<unknown> | undefined = () => undefined,
): Promise<ReceivedExport> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    await pause();
  }
  const bytes = Buffer.concat(chunks);
  const { statusCode: status = 0, headers, trailers } = response;
  return {
    status,
    headers,
    trailers,
    text: bytes.toString(),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}
