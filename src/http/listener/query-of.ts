import type { FastifyRequest } from 'fastify';

/** Returns the raw query string of a request, without `?`. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}
