import type { AuditAction } from '../../audit/audit-event.ts';

/** A request of each changing operation, in this order, and the action that it must leave. */
export const changingRequests: readonly (readonly [
  operation: string,
  action: AuditAction,
  path: string,
  body?: Record<string, unknown>,
])[] = [
  ['createTenant', 'tenant.create', '/tenants', { tenant: 'globex' }],
  ['saveColumns', 'tenant.map-columns', '/tenants/globex/columns', { columns: '{"columns":{"iccid":"SIM"}}' }],
  ['loadSubscriptions', 'records.load', '/tenants/globex/subscriptions'],
  ['eraseSubscriptions', 'subscription.erase', '/tenants/globex/subscriptions/erase', { ids: ['c3ViMQ'] }],
  ['createClient', 'client.create', '/clients', { tenant: 'globex', client_id: 'globex-1' }],
  ['updateClient', 'client.update', '/clients/globex-1', { scopes: ['subscription:read'] }],
  ['rotateClient', 'client.rotate', '/clients/globex-1/rotate', {}],
  ['revokeClientTokens', 'client.revoke-tokens', '/clients/globex-1/revoke-tokens', {}],
  ['disableClient', 'client.disable', '/clients/globex-1/disable', {}],
  ['enableClient', 'client.enable', '/clients/globex-1/enable', {}],
  ['deleteClient', 'client.delete', '/clients/globex-1'],
  ['deleteTenant', 'tenant.delete', '/tenants/globex'],
  ['rotateKeys', 'keys.rotate', '/keys/rotate', { purpose: 'access', mode: 'now' }],
  ['runDoctor', 'doctor.run', '/doctor', {}],
  ['createOperator', 'operator.create', '/operators', { name: 'x', scopes: ['operator:read'] }],
  ['revokeOperator', 'operator.revoke', '/operators/op-unknown/revoke', {}],
];
