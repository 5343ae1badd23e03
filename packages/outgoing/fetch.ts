import { ConnectionError, connectionErrorOf, type ErrorContext, ResponseError, TimeoutError } from '../client/error.ts';
import { BoundError, followBody } from './bounds.ts';
import { rememberToken } from './known-secrets.ts';
import { describeProxy } from './proxy.ts';

/**
 * `fetch` of the programs. A response that is not a whole report is aborted as soon as it exceeds a
 * bound (`followBody`); a whole report is read line by line, and fails if it only drips.
 */
export const outgoingFetch: typeof fetch = async (input, init) => {
  const [, token] = /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
  if (token !== undefined) rememberToken(token);
  const response = await fetch(input, init).catch((error: unknown) => {
    throw throughProxy(String(input), error, init);
  });
  const { body } = response;
  if (body === null) return response;
  if (response.ok && isForWholeReport(String(input), init?.body))
    return Object.defineProperty(response, 'body', { value: withoutDrip(body, response, init) });
  const follow = followBody(new URL(response.url).origin);
  const bounded = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, controller) {
      try {
        follow(part);
      } catch (error) {
        throw error instanceof BoundError ? unreadable(error, response, init) : error;
      }
      controller.enqueue(part);
    },
  });
  return Object.defineProperty(response, 'body', { value: body.pipeThrough(bounded) });
};

/** The error of a request without a response, which names the proxy if there is one. */
function throughProxy(url: string, error: unknown, init: RequestInit | undefined): unknown {
  const proxy = describeProxy(url);
  if (proxy === '') return error;
  const context = contextOf(init);
  if (init?.signal?.aborted)
    return new TimeoutError(`Cannot reach ${new URL(url).origin}: it must respond in time${proxy}`, context);
  const { code, message } = connectionErrorOf(url, error, context);
  return new ConnectionError(code, `${message}${proxy}`, context, error);
}

/** Milliseconds that a whole report may keep its reader waiting, and more for each KiB. */
export const dripLimits = { waitMsMax: 60_000, waitMsPerKilobyte: 1_000 } as const;

/** The body, which fails once a server sends it slower than that, however often it sends. */
function withoutDrip(body: Body, response: Response, init: RequestInit | undefined): Body {
  const reader = body.getReader();
  let [waitedMs, bytes] = [0, 0];
  return new ReadableStream({
    async pull(controller) {
      const { promise: late, reject } = Promise.withResolvers<never>();
      const leftMs = dripLimits.waitMsMax + (bytes / 1_024) * dripLimits.waitMsPerKilobyte - waitedMs;
      const timer = setTimeout(() => reject(tooSlow(response, init)), leftMs);
      const began = performance.now();
      try {
        const { done, value } = await Promise.race([reader.read(), late]);
        if (done) return controller.close();
        waitedMs += performance.now() - began;
        bytes += value.length;
        controller.enqueue(value);
      } catch (error) {
        reader.cancel(error).catch(() => undefined); // the error is reported
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

function tooSlow({ url }: Response, init: RequestInit | undefined): TimeoutError {
  const message = `Cannot read the report of ${new URL(url).origin}: it must arrive faster, at least 1 KiB a second`;
  return new TimeoutError(message, contextOf(init));
}

/** Whether a request is for all records, in its query string or its JSON body. */
const isForWholeReport = (url: string, body: unknown): boolean =>
  /[?&]all=true(&|$)/.test(url) || (typeof body === 'string' && /[{,]"all":true[,}]/.test(body));

/** The error of the client library, which it returns unchanged. */
function unreadable({ message }: BoundError, response: Response, init: RequestInit | undefined): ResponseError {
  return new ResponseError('UNKNOWN_FORMAT', message, response, contextOf(init));
}

const contextOf = (init: RequestInit | undefined): ErrorContext => ({
  correlationId: new Headers(init?.headers).get('x-correlation-id') ?? 'none',
  attempts: 1,
});
