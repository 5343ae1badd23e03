/** A path of the contract (`/a/{id}`) as the router writes it (`/a/:id`). */
export function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}
