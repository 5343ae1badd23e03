import type { FastifyReply, FastifyRequest } from 'fastify';
import { consolePrefix } from '../../contract/oauth/console-session.ts';
import { type Operation, operations } from '../../contract/operations.ts';
import { RequestError } from './error.ts';
import { unknownPath } from './send-error.ts';

/** Converts a path of the contract (`/a/{id}`) to the router's syntax (`/a/:id`). */
export function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

type OperationTable = Readonly<Record<string, Pick<Operation, 'method' | 'path'>>>;

/** The names of operations, and the name of the one that a method and a route have. */
interface OperationNames {
  readonly names: readonly string[];
  readonly nameOf: (method: string, route: string | null) => string;
}

/** Names operations: the same for requests of the console and of other clients. */
export function operationNames(table: OperationTable): OperationNames {
  const names = new Map(
    Object.entries(table).map(([name, { method, path }]) => [`${method} ${routePath(path)}`, name]),
  );
  const nameOf = (method: string, route: string | null): string => {
    if (route === null) return 'unknown';
    const verb = method === 'HEAD' ? 'GET' : method;
    const ofApi = route.startsWith(consolePrefix) ? route.slice(consolePrefix.length) : route;
    return names.get(`${verb} ${route}`) ?? names.get(`${verb} ${ofApi}`) ?? 'page';
  };
  return { names: [...Object.keys(table), 'page', 'unknown'], nameOf };
}

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
    throw new RequestError('METHOD_NOT_ALLOWED', `Cannot use this method: it must be one of ${allow}`, {
      headers: { allow },
    });
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

/** Returns the raw query string of a request, without `?`. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}
