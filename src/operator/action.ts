/**
 * Every action that changes something, by the name that the audit log, the API and the commands
 * use.
 */
export type ActionName =
  | 'tenant.create'
  | 'tenant.delete'
  | 'client.create'
  | 'client.update'
  | 'client.rotate'
  | 'client.disable'
  | 'client.enable'
  | 'client.delete'
  | 'client.revoke-tokens'
  | 'keys.rotate'
  | 'subscription.erase'
  | 'operator.create'
  | 'operator.revoke';

/** What an action changes. */
export interface ActionTarget {
  readonly tenant?: string;
  readonly clientId?: string;
  /** The operator's token that is created or revoked. */
  readonly operatorId?: string;
  /** What else says what changes: the purpose of a key and how it is rotated, or a session. */
  readonly detail?: string;
}
