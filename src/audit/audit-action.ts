/** The details of an action, in words. */
type Members = Readonly<Record<string, string>>;

interface Described {
  readonly summary: string;
  readonly details: Members;
}

const counted: Members = {
  count: 'how often it happened in a minute',
  since: 'when it happened first in this minute',
  others: 'true if there were too many callers to name each',
};

/** Every action that the audit log records, and the members of its details. */
export const auditActions = {
  'token.request': { summary: 'A token request was refused', details: counted },
} as const satisfies Readonly<Record<string, Described>>;

export type AuditAction = keyof typeof auditActions;
