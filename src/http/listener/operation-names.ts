import type { Operation } from '../../contract/operations.ts';
import { routePath } from './route-path.ts';

/** Makes the function that names the operation of a method and a route. */
export function operationNames(
  table: Readonly<Record<string, Operation>>,
): (method: string, route: string | null) => string {
  const names = new Map(
    Object.entries(table).map(([name, { method, path }]) => [`${method} ${routePath(path)}`, name]),
  );
  return (method, route) => {
    if (route === null) return 'unknown';
    return names.get(`${method === 'HEAD' ? 'GET' : method} ${route}`) ?? 'page';
  };
}
