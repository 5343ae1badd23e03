import type { IncomingMessage } from 'node:http';
import { RequestError } from './error.ts';

/**
 * The bytes of a request's body, read as fast as they are taken. Fails with `RequestError` when the client goes away, or sends nothing for `stallMs` while it is
 * waited for.
 */
export async function* readBody(request: IncomingMessage, stallMs: number): AsyncGenerator<Buffer> {
  const chunks = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await inTime(chunks.next(), stallMs);
      if (done === true) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(
      'INVALID_HTTP_MESSAGE',
      'Cannot read the body: it must arrive whole: the connection was closed',
    );
  }
}

function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new RequestError(
          'REQUEST_TIMEOUT',
          `Cannot wait for the body any longer: its next bytes must arrive within ${ms / 1000} s`,
          { connection: 'close' },
        ),
      );
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
