import type { FastifyRequest } from 'fastify';
import { consolePrefix } from '../../../contract/oauth/console-session.ts';
import type { Operation } from '../../../contract/operations.ts';

/** Converts a path of the contract (`/a/{id}`) to the router's syntax (`/a/:id`). */
export function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

export type OperationTable = Readonly<Record<string, Pick<Operation, 'method' | 'path'>>>;

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

/** Returns the raw query string of a request, without `?`. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}
