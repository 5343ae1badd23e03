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

/** What an operator does; callers of the service do the others, which are counted per minute. */
export type OperatorAction = (typeof operatorActionNames)[number];
export type AuditAction = OperatorAction | (typeof callerActionNames)[number];
