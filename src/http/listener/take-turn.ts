import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';
import type { FairQueue, Leave } from './fair-queue.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the turn of a request; `null` while it has none. */
    endTurn: Leave | null;
  }
}

/** Ends the turn of each request when its response begins: then its client sets the pace. */
export function addTurns(app: FastifyInstance): void {
  app.decorateRequest('endTurn', null);
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.endTurn?.();
    done(null, payload);
  });
}

/**
 * Resolves when it is a request's turn in the queue of a tenant, or of a client that requests
 * tokens. Rejects with `UNAVAILABLE` if the service is overloaded.
 */
export async function takeTurn(
  queue: FairQueue,
  key: string,
  request: FastifyRequest,
  { raw }: FastifyReply,
): Promise<void> {
  if (raw.destroyed) throw disconnected(); // its end would never be noticed
  let leave = queue.tryEnter(key);
  const place = leave === undefined ? queue.wait(key) : undefined;
  // the client may disconnect before the response begins
  raw.on('close', () => {
    if (leave === undefined) place?.giveUp(disconnected());
    else leave();
  });
  if (place !== undefined) leave = await place.turn;
  request.endTurn = leave ?? null;
}

/** Nobody receives it, and it is not logged as a fault of this service. */
const disconnected = (): RequestError =>
  new RequestError('UNAVAILABLE', 'Cannot respond: the client must stay connected until the response begins');
