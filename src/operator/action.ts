import type { OperatorAction } from '../audit/audit-action.ts';
import type { AuditDetails } from '../audit/audit-event.ts';

/** An action of the operator, and what it changes as far as that is known before it runs. */
export interface Action<T> {
  readonly name: OperatorAction;
  readonly target: ActionTarget;
  /** The rest of the target, known only after the action: an id may have been generated. */
  readonly targetOf?: (result: T) => ActionTarget;
  /** Details for the audit log, as `docs/audit.md` lists them. */
  readonly details?: AuditDetails;
  /** Details of what was done, known only after the action. */
  readonly detailsOf?: (result: T) => AuditDetails;
  /** Why a result is a refusal, though the action did not throw. */
  readonly refusalOf?: (result: T) => Error | undefined;
}

/** What an action changes. */
export interface ActionTarget {
  readonly tenant?: string;
  readonly clientId?: string;
  /** The operator's token that is created or revoked. */
  readonly operatorId?: string;
}
