import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { RequestError } from './error.ts';
import type { OperationTable } from './operation-routes.ts';
import { unknownPath } from './send-error.ts';

type UnroutedHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Makes the handler of requests that no route handles: `OPTIONS` of a known path gets the methods
 * that it allows, another method gets 405 with `Allow` (RFC 9110 §15.5.6), an unknown path gets 404
 * with the message `notFound`.
 */
export function createUnroutedHandler(table: OperationTable, notFound: string): UnroutedHandler {
  const allowed = allowedMethods(table);
  return async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allow = allowed.find(({ pattern }) => pattern.test(path))?.allow;
    if (allow === undefined) throw new RequestError('NOT_FOUND', notFound);
    if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
    throw new RequestError(
      'METHOD_NOT_ALLOWED',
      `Cannot use the method ${request.method}: it must be one of ${allow}`,
      {
        headers: { allow },
      },
    );
  };
}

/** Responds to unrouted requests of the public listener. */
export const handleUnrouted = createUnroutedHandler(operations, unknownPath);

/** The methods that each path allows, by the pattern of the path. */
function allowedMethods(table: OperationTable) {
  const byPath = new Map<string, Set<string>>();
  for (const { method, path } of Object.values(table)) {
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
}
