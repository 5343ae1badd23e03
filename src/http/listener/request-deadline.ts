import type { FastifyInstance, FastifyRequest } from 'fastify';
import { StorageError } from '../../storage/error.ts';
import type { Store } from '../../storage/store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * When the response must begin, as a time of `performance.now()`: whatever the request waits
     * for ends by then.
     */
    deadline: number;
  }
}

/** Time in which what has missed the deadline says so itself, in milliseconds. */
const graceMs = 250;

/**
 * Gives each request its deadline, and answers 503 when nothing has been sent shortly after it,
 * whatever the request still waits for.
 */
export function addRequestDeadline(app: FastifyInstance, requestMs: number): void {
  app.decorateRequest('deadline', 0);
  app.addHook('onRequest', (request, reply, done) => {
    request.deadline = performance.now() + requestMs;
    const timer = setTimeout(() => {
      const isOpen = !reply.sent && !reply.raw.headersSent && Number.isFinite(request.deadline);
      if (isOpen) reply.send(new StorageError('UNAVAILABLE', 'Cannot answer: the response must begin by the deadline'));
    }, requestMs + graceMs);
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  });
}

/** Lets a request take its time: it has limits of its own from here on. */
export function liftDeadline(request: FastifyRequest): void {
  request.deadline = Number.POSITIVE_INFINITY;
}

/** A context whose store ends what it does by the deadline of a request. */
export function withinRequest<C extends { readonly store: Store }>(context: C, { deadline }: FastifyRequest): C {
  return { ...context, store: context.store.within(deadline) };
}
