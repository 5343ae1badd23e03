import type { FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated client; set on every route that needs a token. */
    access: Access | null;
  }
}

/** Returns the client of a request; its route must require a token. */
export function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new TypeError('Cannot serve a report: the route must authorize first');
  return request.access;
}
