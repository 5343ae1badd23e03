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

/** Actions that change something, by the name that the audit log, the API and the commands use. */
const operatorActions = {
  'tenant.create': { summary: 'A tenant is created' },
  'tenant.delete': { summary: 'A tenant is deleted with its clients and records' },
  'client.create': { summary: 'A client is created' },
  'client.update': { summary: 'The grants, the scopes or the token use of a client change' },
  'client.rotate': { summary: 'A client gets a new secret' },
  'client.disable': { summary: 'A client is disabled' },
  'client.enable': { summary: 'A client is enabled' },
  'client.delete': { summary: 'A client is deleted' },
  'client.revoke-tokens': { summary: 'Tokens of a client are revoked' },
  'keys.rotate': { summary: 'A new key is made for tokens' },
  'subscription.erase': { summary: 'Records are deleted for good' },
  'operator.create': { summary: "An operator's token is created" },
  'operator.revoke': { summary: "An operator's token is revoked" },
} as const satisfies Readonly<Record<string, Described>>;

/** What callers of the service do, counted per minute. */
const callerActions = {
  'console.sign-in': {
    summary: 'A page of the service, such as the console, signs in a client, or is refused',
    details: perMinute,
  },
  'token.request': { summary: 'A token is refused', details: perMinute },
  'token.reuse': {
    summary: 'A used refresh token is presented again; its family is revoked',
    details: { family: 'the family', ...perMinute },
  },
  'token.revoke': { summary: 'A request to revoke a token is refused', details: perMinute },
  'token.introspect': { summary: 'A request to introspect a token is refused', details: perMinute },
} as const satisfies Readonly<Record<string, Described>>;

/** Every action of the audit log. */
export const auditActions: Readonly<Record<AuditAction, Described>> = { ...operatorActions, ...callerActions };

export type OperatorAction = keyof typeof operatorActions;
export type AuditAction = OperatorAction | keyof typeof callerActions;
