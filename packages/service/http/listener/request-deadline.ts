import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { StorageError } from '../../storage/error.ts';
import type { Store } from '../../storage/store.ts';
import { RequestError } from './error.ts';
import { logLateError } from './send-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * When the response must begin, as a time of `performance.now()`; operations that are still
     * running then are aborted.
     */
    deadline: number;
    /** Aborts if the client leaves before its response has been sent. */
    closed: AbortSignal;
  }
}

/** Extra time in milliseconds for an operation to report that it missed the deadline. */
const graceMs = 250;

/**
 * Makes the function that gives a request its deadline, and responds with 503 if no response has
 * begun shortly after it; what the handler sends or throws later is dropped. Must be called before
 * routes are added.
 */
export function createRequestDeadlines(app: FastifyInstance, requestMs: number) {
  app.decorateRequest('deadline', 0);
  app.decorateRequest('closed');
  // Fastify would log an error that comes after the response as a fault of the code
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function handleUntilSent(request, reply) {
      const result: unknown = handler.call(this, request, reply);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        if (!reply.sent) throw error;
        logLateError(error, request);
      });
    };
  });
  return (request: FastifyRequest, reply: FastifyReply): void => {
    request.deadline = performance.now() + requestMs;
    const timer = setTimeout(() => {
      const isOpen = !reply.sent && !reply.raw.headersSent && Number.isFinite(request.deadline);
      if (!isOpen) return;
      reply.send(new StorageError('UNAVAILABLE', 'Cannot respond: the response must begin before the deadline'));
      reply.send = () => reply;
    }, requestMs + graceMs);
    const closing = new AbortController();
    request.closed = closing.signal;
    reply.raw.on('close', () => {
      clearTimeout(timer);
      if (!reply.raw.writableFinished) closing.abort(disconnected());
    });
  };
}

/** Nobody receives it, and it is not logged as a fault of this service. */
const disconnected = (): RequestError =>
  new RequestError('UNAVAILABLE', 'Cannot respond: the client must stay connected until the response begins');

/** Lifts the deadline of a request that has its own limits from here on. */
export function liftDeadline(request: FastifyRequest): void {
  request.deadline = Number.POSITIVE_INFINITY;
}

/** The context of a request that only reads, which ends when its client has left. */
export function whileConnected<C extends { readonly store: Store }>(context: C, request: FastifyRequest): C {
  return { ...context, store: context.store.within(request.deadline, request.closed) };
}

export function withinRequest<C extends { readonly store: Store }>(context: C, { deadline }: FastifyRequest): C {
  return { ...context, store: context.store.within(deadline) };
}
