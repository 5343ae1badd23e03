import { consolePrefix } from '../../contract/console-session.ts';
import type { Operation } from '../../contract/operations.ts';
import { routePath } from './route-path.ts';

/**
 * Makes the function that names the operation of a method and a route: the same for requests of the
 * console and of other clients.
 */
export function operationNames(
  table: Readonly<Record<string, Pick<Operation, 'method' | 'path'>>>,
): (method: string, route: string | null) => string {
  const names = new Map(
    Object.entries(table).map(([name, { method, path }]) => [`${method} ${routePath(path)}`, name]),
  );
  return (method, route) => {
    if (route === null) return 'unknown';
    const verb = method === 'HEAD' ? 'GET' : method;
    const ofApi = route.startsWith(consolePrefix) ? route.slice(consolePrefix.length) : route;
    return names.get(`${verb} ${route}`) ?? names.get(`${verb} ${ofApi}`) ?? 'page';
  };
}
