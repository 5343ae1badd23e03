import type { FastifyRequest } from 'fastify';

/** Returns the raw query string of a request, without `?`. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
