import type { AuditEntry } from '../../packages/contract/operator/audit.ts';
import type { Client, ClientDetails, ClientSession } from '../../packages/contract/operator/client.ts';
import type { DoctorResult } from '../../packages/contract/operator/doctor.ts';
import type { ServiceHealth } from '../../packages/contract/operator/health.ts';
import type { Import, LastImport } from '../../packages/contract/operator/import.ts';
import type { Key } from '../../packages/contract/operator/key.ts';
import type { Setting } from '../../packages/contract/operator/setting.ts';
import type { Tenant } from '../../packages/contract/operator/tenant.ts';
import type { CreatedOperator, Operator } from '../../packages/contract/operator/token.ts';

const operator: Operator = {
  id: 'op-3f1f2f6a7c10',
  name: 'billing',
  scopes: ['subscription:write'],
  created_at: '2026-05-01T08:00:00Z',
  expires_at: '2026-07-30T08:00:00Z',
  last_used_at: null,
  revoked_at: null,
};

const createdOperator: CreatedOperator = { ...operator, token: 'sro_Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2s' };

const lastImport: LastImport = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  started_at: '2026-05-01T02:00:00Z',
  ended_at: '2026-05-01T02:00:04Z',
  result: 'failed',
  outcome: 'failed',
  accepted: 2,
  rejected: 1,
};

const tenant: Tenant = {
  tenant: 'acme',
  created_at: '2026-05-01T08:00:00Z',
  records: 2000,
  revision: 7,
  deleting_since: null,
  last_import: lastImport,
  last_good_import_at: '2026-04-30T02:00:09Z',
  columns: null,
  storage: {
    total: 2_532_850,
    budget: 17_179_869_184,
  },
};

const client: Client = {
  client_id: 'acme-reporting',
  name: 'Finance, Acme',
  tenant: 'acme',
  external: false,
  grants: ['client_credentials', 'refresh_token'],
  scopes: ['subscription:read'],
  refresh_token_use: null,
  rate_limit_per_minute: null,
  created_at: '2026-05-01T08:00:00Z',
  disabled_at: null,
  last_used_at: '2026-05-02T09:30:00Z',
  tokens_revoked_at: null,
};

const details: ClientDetails = { ...client, secrets: [{ created_at: '2026-05-01T08:00:00Z', expires_at: null }] };

const session: ClientSession = {
  session: '1b0cQwCqv0nN3x7b1cPq9A',
  scopes: ['subscription:read'],
  started_at: '2026-05-02T09:00:00Z',
  last_used_at: '2026-05-02T09:30:00Z',
  refreshes: 6,
  expires_at: '2026-05-02T10:00:00Z',
  ends_at: '2026-06-01T09:00:00Z',
};

const credentials = { client_id: 'acme-reporting', client_secret: 'Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgc2VjcmV0' };

const key: Key = {
  purpose: 'access',
  kid: 'm9vRcR2m0i3bqYwCqv0nN3x7b1cPq9AkV2Zq8tYw4Nf',
  alg: 'ES256',
  state: 'current',
  created_at: '2026-05-01T08:00:00Z',
  activates_at: '2026-05-01T08:06:00Z',
  ends_at: null,
  rotation_due_at: '2026-07-30T08:00:00Z',
  encrypted: true,
};
const importExample: Import = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  tenant: 'acme',
  started_at: '2026-05-01T02:00:00Z',
  ended_at: '2026-05-01T02:00:09Z',
  actor: { kind: 'client', id: 'acme-provisioning', name: null },
  address: '10.0.0.9',
  via: 'http',
  format: 'ndjson',
  options: ['strict'],
  columns: null,
  result: 'failed',
  outcome: 'failed',
  error: 'Cannot import strictly: every row must be valid: 1 of 3 are not; nothing was loaded',
  read: 3,
  accepted: 2,
  rejected: 1,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  removed: 0,
  revision: 7,
};

const doctor: DoctorResult = {
  ok: true,
  started_at: '2026-05-01T03:30:00Z',
  finished_at: '2026-05-01T03:30:04Z',
  host: 'db-1',
  version: '0.2.0',
  checked: 1,
  problems: 0,
  checks: [{ check: 'schema', ok: true, message: 'This version can work with the schema' }],
};

const serviceHealth: ServiceHealth = {
  ready: true,
  version: '0.2.0',
  processes: 1,
  tenants: 12,
  requests_waiting: 0,
  exports_in_progress: 0,
  loads_in_progress: 1,
  problems: [{ id: 'rejected-rows', severity: 'warning', count: 3 }],
  last_check_at: '2026-05-01T03:30:04Z',
};

const setting: Setting = {
  name: 'PORT',
  value: '8080',
  is_set: true,
  origin: 'default',
  description: 'Port to listen on',
};

const rejectedRow = { line: 2, errors: [{ field: 'iccid', value: '"89445"', rule: '15 to 22 digits' }] };

const auditEntry: AuditEntry = {
  id: 1042,
  recorded_at: '2026-05-02T08:00:00Z',
  actor: { kind: 'anonymous', id: null, name: null },
  address: '192.0.2.10',
  action: 'token.request',
  tenant: null,
  client_id: 'acme-reporting',
  outcome: 'refused',
  error: 'invalid_client',
  correlation_id: null,
  details: { count: 3, since: '2026-05-02T07:59:12Z' },
};

/** A page of a list with one item. */
const pageOf = (item: object) => ({ data: [item], next: null });

/** The examples of the operator's API by name. */
export const operatorExamples: Readonly<Record<string, unknown>> = {
  tenants: pageOf(tenant),
  tenant,
  newTenant: { ...tenant, records: 0, revision: 0 },
  deletedTenant: { tenant: 'acme', deleted: true, clients: 2, rows: 2100 },
  erasure: { tenant: 'acme', asked: 2, deleted: 1, missing: 1, versions: 3 },
  clients: pageOf(client),
  client: details,
  disabledClient: {
    ...details,
    disabled_at: '2026-05-03T08:00:00Z',
    tokens_revoked_at: '2026-05-03T08:00:00Z',
  },
  clientCredentials: credentials,
  rotatedClient: { ...credentials, disabled: false },
  clientSessions: pageOf(session),
  revokedTokens: { client_id: 'acme-reporting', revoked: 'all' },
  deletedClient: { client_id: 'acme-reporting', deleted: true },
  keys: pageOf(key),
  key: { ...key, state: 'next', rotation_due_at: null },
  doctor,
  serviceHealth,
  settings: pageOf(setting),
  imports: pageOf(importExample),
  import: importExample,
  rejectedRows: `${JSON.stringify(rejectedRow)}\n`,
  auditEntries: pageOf(auditEntry),
  operators: pageOf(operator),
  createdOperator,
  revokedOperator: { ...operator, revoked_at: '2026-05-02T08:00:00Z' },
};
