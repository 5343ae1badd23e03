import type { IncomingMessage } from 'node:http';
import { RequestError } from './error.ts';

/**
 * Reads the body of a request, as fast as it is consumed. Throws `RequestError` if the client
 * disconnects, or sends nothing for `stallMs` while it is awaited.
 */
export async function* readBody(request: IncomingMessage, stallMs: number): AsyncGenerator<Buffer> {
  // a client that is rejected early must still be able to read the response
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const { done, value } = await inTime(chunks.next(), stallMs);
      isWaiting = false;
      if (done === true) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      'Cannot read the body: it must be complete: the connection was closed',
    );
  } finally {
    if (!isWaiting) await chunks.return?.(); // a pending read ends when the connection closes
  }
}

/**
 * Discards the rest of a body for at most `ms`, as many clients read the response only after
 * sending the whole body. Then the connection is closed.
 */
export function discardBody(request: IncomingMessage, ms: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), ms);
  request.once('close', () => clearTimeout(timer));
  request.resume();
}

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new RequestError('REQUEST_TIMEOUT', `Cannot read the body: its next bytes must arrive within ${ms / 1000} s`, {
          headers: { connection: 'close' },
        }),
      );
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
