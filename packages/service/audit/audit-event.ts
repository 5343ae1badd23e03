import type { auditOutcomes, callerActionNames, operatorActionNames } from '../../contract/operator/audit.ts';

/** Who caused an entry of the audit log. */
interface AuditActor {
  /**
   * `operator`: the holder of an operator's token. `command`: a user of the machine who ran a
   * command. `client`: an authenticated client. `anonymous`: a caller that was not authenticated.
   * `service`: the service itself.
   */
  readonly kind: 'operator' | 'command' | 'client' | 'anonymous' | 'service';
  readonly id: string | null;
  readonly name: string | null;
}

/**
 * `started`: an action of several transactions began. `ok`: it succeeded. `refused`: a rule did not
 * allow it. `failed`: the store or the service failed; it may be partly done.
 */
type AuditOutcome = (typeof auditOutcomes)[number];

/** What the audit log records. */
export interface AuditEvent {
  readonly actor: AuditActor;
  /** Source address of the request; `null` for a command. */
  readonly address: string | null;
  readonly action: AuditAction;
  readonly tenant: string | null;
  readonly clientId: string | null;
  readonly outcome: AuditOutcome;
  /** Error code, unless it succeeded. */
  readonly error: string | null;
  readonly correlationId: string | null;
  /**
   * The members that `docs/operators/audit.md` lists. Never a secret, a token, an email or a
   * record.
   */
  readonly details: AuditDetails;
}

export type AuditDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What an action is, and the members of its details, in words. */
interface Described {
  readonly summary: string;
  readonly details?: Readonly<Record<string, string>>;
}

const perMinute = {
  count: 'how often it happened in a minute',
  since: 'when it happened first in this minute',
  others: 'true if there were too many callers to name each',
};

const clientName = { name: 'name of the client, if it has one' };

const operatorToken = { operator_id: "id of the operator's token" };

/** Actions that change something, by the name that the audit log, the API and the commands use. */
const operatorActions = {
  'tenant.create': { summary: 'A tenant is created' },
  'tenant.map-columns': {
    summary: 'A mapping of columns is saved for the imports of a tenant',
    details: { columns: 'fields that have a column', constants: 'fields that have a constant' },
  },
  'tenant.delete': {
    summary: 'A tenant is deleted with its clients and records',
    details: { clients: 'deleted clients', rows: 'deleted records, counts and tombstones' },
  },
  'client.create': { summary: 'A client is created', details: clientName },
  'client.update': {
    summary: 'The settings of a client change, such as its name, grants or scopes',
    details: clientName,
  },
  'client.rotate': { summary: 'A client gets a new secret', details: clientName },
  'client.disable': { summary: 'A client is disabled', details: clientName },
  'client.enable': { summary: 'A client is enabled', details: clientName },
  'client.delete': { summary: 'A client is deleted', details: clientName },
  'client.revoke-tokens': {
    summary: 'Tokens of a client are revoked',
    details: { ...clientName, session: 'the only session whose tokens are revoked; absent for all' },
  },
  'keys.rotate': {
    summary: 'A new key is made for tokens',
    details: { purpose: 'access or refresh', mode: 'soon, now or compromised', kid: 'id of the new key' },
  },
  'subscription.erase': {
    summary: 'Records are deleted for good',
    details: { asked: 'requested ids', deleted: 'records', missing: 'unknown ids', versions: 'former versions' },
  },
  'records.load': {
    summary: 'Records are loaded, over HTTP or by a command',
    details: {
      ...{ format: 'ndjson or csv', options: 'options of the load, such as replace', import_id: 'id of the import' },
      ...{ read: 'rows', rejected: 'invalid rows', inserted: 'added records', updated: 'changed records' },
      ...{ unchanged: 'rows that equal the stored record', removed: 'records that a replacement removed' },
    },
  },
  'store.backup': {
    summary: 'A backup of the database is written',
    details: { tenants: 'tenants', records: 'records', bytes: 'size of the file' },
  },
  'store.migrate': { summary: 'The schema is migrated', details: { applied: 'applied migrations' } },
  'store.repair': {
    summary: 'The records and counts are checked and repaired',
    details: { ok: 'whether the database has no problem any more' },
  },
  'store.restore': {
    summary: 'The database is replaced with a backup, or gets a new history',
    details: { tenants: 'tenants', records: 'records' },
  },
  'doctor.run': { summary: 'A check of the store is started over HTTP' },
  'operator.create': { summary: "An operator's token is created", details: operatorToken },
  'operator.revoke': { summary: "An operator's token is revoked", details: operatorToken },
} as const satisfies Readonly<Record<OperatorAction, Described>>;

/** What callers of the service do, counted per minute. */
const callerActions = {
  'operator.sign-in': {
    summary: "An operator's token is used after an hour without use, or a token is refused",
    details: perMinute,
  },
  'console.sign-in': {
    summary: 'A page of the service, such as the console, signs in a client, or is refused',
    details: perMinute,
  },
  'console.sign-out': { summary: 'A person signs out of the console', details: perMinute },
  'token.request': { summary: 'A token is refused', details: perMinute },
  'token.reuse': {
    summary: 'A used refresh token is presented again; its family is revoked',
    details: { family: 'the family', ...perMinute },
  },
  'token.revoke': { summary: 'A request to revoke a token is refused', details: perMinute },
  'token.introspect': { summary: 'A request to introspect a token is refused', details: perMinute },
} as const satisfies Readonly<Record<CallerAction, Described>>;

export const auditActions: Readonly<Record<AuditAction, Described>> = { ...operatorActions, ...callerActions };

export type OperatorAction = (typeof operatorActionNames)[number];
type CallerAction = (typeof callerActionNames)[number];
export type AuditAction = OperatorAction | CallerAction;
