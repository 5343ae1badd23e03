import type { OperatorApiId, operatorApi } from '../../contract/operator/operations.ts';

type Table = typeof operatorApi;

/**
 * Method, path and scope of each operation. The compiler compares them with the contract, whose
 * schemas would be most of the script.
 */
export const routes: {
  readonly [Id in OperatorApiId]: readonly [Table[Id]['method'], Table[Id]['path'], Table[Id]['scope']];
} = {
  listTenants: ['GET', '/operator/v1/tenants', 'operator:read'],
  createTenant: ['POST', '/operator/v1/tenants', 'operator:write'],
  getTenant: ['GET', '/operator/v1/tenants/{tenant}', 'operator:read'],
  saveColumns: ['PUT', '/operator/v1/tenants/{tenant}/columns', 'subscription:write'],
  deleteTenant: ['DELETE', '/operator/v1/tenants/{tenant}', 'operator:write'],
  eraseSubscriptions: ['POST', '/operator/v1/tenants/{tenant}/subscriptions/erase', 'operator:write'],
  listClients: ['GET', '/operator/v1/clients', 'operator:read'],
  createClient: ['POST', '/operator/v1/clients', 'operator:write'],
  getClient: ['GET', '/operator/v1/clients/{client_id}', 'operator:read'],
  updateClient: ['PATCH', '/operator/v1/clients/{client_id}', 'operator:write'],
  deleteClient: ['DELETE', '/operator/v1/clients/{client_id}', 'operator:write'],
  rotateClient: ['POST', '/operator/v1/clients/{client_id}/rotate', 'operator:write'],
  disableClient: ['POST', '/operator/v1/clients/{client_id}/disable', 'operator:write'],
  enableClient: ['POST', '/operator/v1/clients/{client_id}/enable', 'operator:write'],
  listClientSessions: ['GET', '/operator/v1/clients/{client_id}/sessions', 'operator:read'],
  revokeClientTokens: ['POST', '/operator/v1/clients/{client_id}/revoke-tokens', 'operator:write'],
  listKeys: ['GET', '/operator/v1/keys', 'operator:read'],
  rotateKeys: ['POST', '/operator/v1/keys/rotate', 'operator:write'],
  listImports: ['GET', '/operator/v1/imports', 'operator:read'],
  getImport: ['GET', '/operator/v1/imports/{import_id}', 'operator:read'],
  getImportErrors: ['GET', '/operator/v1/imports/{import_id}/errors', 'operator:read'],
  getDoctor: ['GET', '/operator/v1/doctor', 'operator:read'],
  runDoctor: ['POST', '/operator/v1/doctor', 'operator:write'],
  getServiceHealth: ['GET', '/operator/v1/health', 'operator:read'],
  listSettings: ['GET', '/operator/v1/settings', 'operator:read'],
  listOperators: ['GET', '/operator/v1/operators', 'operator:read'],
  createOperator: ['POST', '/operator/v1/operators', 'operator:write'],
  revokeOperator: ['POST', '/operator/v1/operators/{operator_id}/revoke', 'operator:write'],
  listAuditEntries: ['GET', '/operator/v1/audit', 'operator:read'],
};

/** Where the session's cookie authorizes the operations. */
const base = '/console';

/** Replaces each `{name}` of a path, and adds the query string. */
export function urlOf(
  path: string,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const sent = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return `${base}${filled}${sent.length === 0 ? '' : `?${new URLSearchParams(sent)}`}`;
}
