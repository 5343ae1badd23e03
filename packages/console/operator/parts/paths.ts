/** The address of the page of a tenant. */
export const tenantPath = (tenant: string): string => `/console/tenants/${encodeURIComponent(tenant)}`;

/** The address of the page of a client. */
export const clientPath = (clientId: string): string => `/console/clients/${encodeURIComponent(clientId)}`;

/** The address of the page of an import. */
export const importPath = (importId: string): string => `/console/imports/${importId}`;

/** What follows the page in the address: the name or the id; `undefined` for the page itself. */
export function itemOf(path: string): string | undefined {
  const [, , , item = ''] = path.split('/');
  return item === '' ? undefined : decodeURIComponent(item);
}
