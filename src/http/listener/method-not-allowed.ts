import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../contract/operations.ts';
import { RequestError } from './error.ts';
import { unknownPath } from './send-error.ts';

/** Path patterns of the operations with the methods that each allows. */
const allowedByPath = (() => {
  const byPath = new Map<string, Set<string>>();
  for (const { method, path } of Object.values(operations)) {
    const methods = byPath.get(path) ?? new Set<string>(['OPTIONS']);
    byPath.set(path, methods.add(method));
    if (method === 'GET') methods.add('HEAD');
  }
  // an exact path before a pattern
  const paths = [...byPath].sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')));
  return paths.map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    allow: [...methods].sort().join(', '),
  }));
})();

/**
 * Answers what no route takes: `OPTIONS` of a known path with what is allowed there, another method
 * with 405 and `Allow` (RFC 9110 §15.5.6), an unknown path with 404.
 */
export async function answerUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0] ?? '';
  const allow = allowedByPath.find(({ pattern }) => pattern.test(path))?.allow;
  if (allow === undefined) {
    throw new RequestError('NOT_FOUND', unknownPath);
  }
  if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
  throw new RequestError('METHOD_NOT_ALLOWED', `Cannot use this method here: it must be one of ${allow}`, { allow });
}
