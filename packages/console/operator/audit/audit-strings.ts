import { countOf } from '../../ui/format-count.ts';

/** The texts of the page Audit log. */
export const auditStrings = {
  title: 'Audit log',
  actor: 'Who',
  action: 'Action',
  /** What each action is, as in docs/operators/audit.md. */
  actions: {
    'tenant.create': 'Tenant created',
    'tenant.map-columns': 'Columns saved',
    'tenant.delete': 'Tenant deleted',
    'client.create': 'Client created',
    'client.update': 'Client changed',
    'client.rotate': 'Secret of a client rotated',
    'client.disable': 'Client disabled',
    'client.enable': 'Client enabled',
    'client.delete': 'Client deleted',
    'client.revoke-tokens': 'Tokens of a client revoked',
    'records.load': 'Records loaded',
    'subscription.erase': 'Records erased',
    'keys.rotate': 'Key rotated',
    'store.backup': 'Backup written',
    'store.migrate': 'Schema migrated',
    'store.repair': 'Store repaired',
    'store.restore': 'Backup restored',
    'doctor.run': 'Check of the store started',
    'operator.create': 'Token of an operator created',
    'operator.revoke': 'Token of an operator revoked',
    'operator.sign-in': 'Token of an operator used',
    'console.sign-in': 'Sign-in to a console',
    'console.sign-out': 'Sign-out of a console',
    'token.request': 'Token refused',
    'token.reuse': 'Used refresh token presented again',
    'token.revoke': 'Revocation of a token refused',
    'token.introspect': 'Introspection of a token refused',
  },
  /** Actions of two kinds of people, by who did it. */
  actionsOf: {
    'console.sign-in': { operator: 'Operator signed in', client: 'Client signed in' },
    'console.sign-out': { operator: 'Operator signed out', client: 'Client signed out' },
  },
  outcome: 'Outcome',
  outcomes: { ok: 'OK', refused: 'Refused', failed: 'Failed', started: 'Started' },
  showOf: (id: number) => `Show entry ${id}`,
  named: (count: number) =>
    `The names of the first ${countOf(count, 'client', 'clients')} are shown; others have only an id.`,
  noneFound: 'No entry matches these filters',
  none: 'No entries',
} as const;
