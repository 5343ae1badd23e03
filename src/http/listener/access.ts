import type { FastifyRequest } from 'fastify';
import type { Access } from '../../auth/resource-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set on every route that needs a token. */
    access: Access | null;
  }
}

/** Who sent a request of a route that needs a token. */
export function accessOf(request: FastifyRequest): Access {
  if (request.access === null) throw new TypeError('Cannot serve a report: the route must authorize first');
  return request.access;
}
