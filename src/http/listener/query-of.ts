import type { FastifyRequest } from 'fastify';

/** The query string as it arrived, without `?`; reading it is the report's work. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
