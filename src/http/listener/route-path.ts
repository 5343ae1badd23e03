/** Converts a path of the contract (`/a/{id}`) to the router's syntax (`/a/:id`). */
export function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}
