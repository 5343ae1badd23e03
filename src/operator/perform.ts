import type { AuditEvent } from '../audit/audit-event.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { ClientError, KeyError } from '../auth/error.ts';
import { ImportError } from '../import/error.ts';
import { StorageError } from '../storage/error.ts';
import type { Store } from '../storage/store.ts';
import type { Action, ActionTarget } from './action.ts';
import type { Actor } from './actor.ts';
import { OperatorError } from './error.ts';

/** What every action of the operator needs: the store, the clock, who acts, and the audit log. */
export interface OperatorContext {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly actor: Actor;
  readonly audit: AuditLog;
  /** Of the request; absent for a command. */
  readonly correlationId?: string;
}

/**
 * Runs an action of the operator and records it. Every change that an operator makes, by the API or
 * by a command, passes through here.
 *
 * The entry is durable before the action is acknowledged: if it cannot be stored, the caller gets
 * the error of the store, though the change was made (docs/decisions/audit.md).
 */
export async function perform<T>(context: OperatorContext, action: Action<T>, work: () => Promise<T>): Promise<T> {
  const record = (more: Pick<AuditEvent, 'outcome' | 'error'>, result?: T): Promise<void> =>
    context.audit.record([{ ...describe(context, action, result), ...more }]);
  if (action.inSteps === true) await record({ outcome: 'started', error: null });
  const result = await work().catch(async (error: unknown) => {
    // the action's own error matters more than a missing entry
    await record(describeError(error)).catch(() => undefined);
    throw error;
  });
  const refusal = action.refusalOf?.(result);
  await record(refusal === undefined ? { outcome: 'ok', error: null } : describeError(refusal), result);
  return result;
}

function describe<T>({ actor, correlationId }: OperatorContext, action: Action<T>, result: T | undefined) {
  const target: ActionTarget = { ...action.target, ...(result !== undefined && action.targetOf?.(result)) };
  return {
    ...describeActor(actor),
    action: action.name,
    tenant: target.tenant ?? null,
    clientId: target.clientId ?? null,
    correlationId: correlationId ?? null,
    details: {
      ...(target.operatorId !== undefined && { operator_id: target.operatorId }),
      ...action.details,
      ...(result !== undefined && action.detailsOf?.(result)),
    },
  };
}

function describeActor(actor: Actor): Pick<AuditEvent, 'actor' | 'address'> {
  const { kind } = actor;
  if (kind === 'command') return { actor: { kind, id: actor.user, name: null }, address: null };
  const { address } = actor;
  return kind === 'operator'
    ? { actor: { kind, id: actor.id, name: actor.name }, address }
    : { actor: { kind, id: actor.clientId, name: null }, address };
}

function describeError(error: unknown): Pick<AuditEvent, 'outcome' | 'error'> {
  if (error instanceof OperatorError || error instanceof ImportError) return { outcome: 'refused', error: error.code };
  if (error instanceof ClientError || error instanceof KeyError) return { outcome: 'refused', error: 'INVALID' };
  return { outcome: 'failed', error: error instanceof StorageError ? error.code : 'INTERNAL_ERROR' };
}
