import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

/** The handler of a method that a path refuses, where another route would match. */
export const refuseMethod = (_request: FastifyRequest, reply: FastifyReply): void => reply.callNotFound();

/**
 * Makes the handler of requests that no route handles: `OPTIONS` of a known path gets the methods
 * that it allows, another method gets 405 with `Allow` (RFC 9110 §15.5.6), an unknown path gets 404
 * with the message `notFound`. Must be called before routes are added.
 */
export function createUnroutedHandler(
  app: FastifyInstance,
  notFound: string,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const methodsOf = collectMethods(app);
  return async (request, reply) => {
    const methods = methodsOf(request.url.split('?', 1)[0] ?? '');
    // a route that has the method found nothing
    if (methods === undefined || methods.has(request.method)) throw new RequestError('NOT_FOUND', notFound);
    const allow = [...methods, 'OPTIONS'].sort().join(', ');
    if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
    const message = `Cannot use the method ${request.method}: it must be one of ${allow}`;
    throw new RequestError('METHOD_NOT_ALLOWED', message, { headers: { allow } });
  };
}

/** Collects the methods of each route; returns those of the route of a path. */
function collectMethods(app: FastifyInstance): (path: string) => ReadonlySet<string> | undefined {
  const byUrl = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method, handler }) => {
    if (handler === refuseMethod) return;
    const pattern = new RegExp(`^${url.replaceAll(/[.*]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`);
    const route = byUrl.get(url) ?? { pattern, methods: new Set() };
    byUrl.set(url, route);
    for (const each of [method].flat()) route.methods.add(each);
  });
  return (path) => (byUrl.get(path) ?? [...byUrl.values()].find(({ pattern }) => pattern.test(path)))?.methods;
}
