import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** A received export. */
export interface ReceivedExport {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: IncomingMessage['trailers'];
  readonly text: string;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
}

/**
 * Sends a GET on a new connection and resolves when the headers have arrived, without reading the
 * body.
 */
export async function openExport(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const request = get(url, { agent: false, headers: { authorization: `Bearer ${token}`, ...headers } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined); // the response reports a broken connection
  return response;
}

/** Reads an export to its end, pausing after each chunk; rejects if the connection breaks first. */
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
