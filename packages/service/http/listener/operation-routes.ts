import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../../contract/operations.ts';
import { RequestError } from './error.ts';

/** Converts a path of the contract (`/a/{id}`) to the router's syntax (`/a/:id`). */
export function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

/** Prefix of the API's paths for requests that a session authorizes. */
const consolePrefix = '/console';

type OperationTable = Readonly<Record<string, Pick<Operation, 'method' | 'path'>>>;

/**
 * The names of operations, and the name of the one that a method and a route have: the same for
 * requests of the console and of other clients.
 */
export function operationNames(table: OperationTable) {
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

/** Returns the raw query string of a request, without `?`. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** Lets the routes of a scope receive bodies of one media type, unparsed, and no others. */
export function acceptBodies(scope: FastifyInstance, type = 'application/json'): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    requireCoding(request);
    return body;
  });
}

/** Rejects a body in a content coding that is none of `codings` (RFC 9110 §15.5.16). */
export function requireCoding({ headers }: FastifyRequest, codings: readonly string[] = []): void {
  const coding = headers['content-encoding']?.trim().toLowerCase().replace(/^x-/, '') ?? 'identity';
  if (coding === 'identity' || codings.includes(coding)) return;
  const rule = codings.length === 0 ? 'absent: the body must not be compressed' : `${codings.join(' or ')}, or absent`;
  const message = `Cannot read the body: the header 'content-encoding' must be ${rule}`;
  throw new RequestError('UNSUPPORTED_MEDIA_TYPE', message);
}
