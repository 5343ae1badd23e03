import type { AuditDetails, AuditEvent, OperatorAction } from '../audit/audit-event.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { ClientError, KeyError, ThrottledError } from '../auth/error.ts';
import type { OperatorAccess } from '../auth/verify/authorize-operator.ts';
import { ImportError } from '../import/error.ts';
import { StorageError } from '../storage/error.ts';
import type { Directory, Store } from '../storage/store.ts';
import { OperatorError } from './error.ts';

/** An action of the operator, and what it changes as far as that is known before it runs. */
interface Action<T> {
  readonly name: OperatorAction;
  readonly target: ActionTarget;
  /** The rest of the target, known only after the action: an id may have been generated. */
  readonly targetOf?: (result: T) => ActionTarget;
  /** Details for the audit log, as `docs/operators/audit.md` lists them. */
  readonly details?: AuditDetails;
  /** Details of what was done, known only after the action. */
  readonly detailsOf?: (result: T) => AuditDetails;
  /** Why a result is a refusal, though the action did not throw. */
  readonly refusalOf?: (result: T) => Error | undefined;
}

interface ActionTarget {
  readonly tenant?: string;
  readonly clientId?: string;
  /** The operator's token that is created or revoked. */
  readonly operatorId?: string;
}

/** Who performs an action of the operator. */
export type Actor = OperatorActor | CommandActor | ClientActor;

/** The holder of an operator's token; `address` is where the request came from. */
export interface OperatorActor extends Omit<OperatorAccess, 'lastUsedAt'> {
  readonly kind: 'operator';
  readonly address: string;
}

/** A user of the machine who runs a command. */
interface CommandActor {
  readonly kind: 'command';
  readonly user: string;
}

/** A client of a tenant, which loads records. */
interface ClientActor {
  readonly kind: 'client';
  readonly clientId: string;
  readonly address: string;
}

/** What every action of the operator needs: the store, the clock, who acts, and the audit log. */
export interface OperatorContext {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly actor: Actor;
  readonly audit: AuditLog;
  /** Of the request; absent for a command. */
  readonly correlationId?: string;
  /** Receives why the end of an action in several transactions, which was done, has no entry. */
  readonly onUnrecorded: (error: unknown) => void;
}

/**
 * Runs an action of the operator and records it. Every change that an operator makes, by the API or
 * by a command, passes through here or through `performInSteps`.
 *
 * The change and its entry are one transaction: if one of them fails, nothing was changed, and the
 * caller gets the error. Slow work, such as hashing a secret, runs before the transaction, in
 * `prepare`.
 */
export async function perform<T, P = undefined>(
  context: OperatorContext,
  action: Action<T>,
  change: (directory: Directory, prepared: P) => Promise<T>,
  prepare: () => Promise<P> = async () => undefined as P,
): Promise<T> {
  const { store } = context;
  const work = async () => {
    const prepared = await prepare();
    return store.transact(async (directory) => {
      const result = await change(directory, prepared);
      return { result, written: await context.audit.add(directory, [describeEnd(context, action, result)]) };
    });
  };
  const { result, written } = await work().catch((error: unknown) => rejectFailed(context, action, error));
  written();
  return result;
}

/**
 * The same for an action of several transactions, such as a load: an entry records its start before
 * anything changes. If the entry of its end fails, the action stays done, and `onUnrecorded` is
 * called.
 */
export async function performInSteps<T>(
  context: OperatorContext,
  action: Action<T>,
  work: () => Promise<T>,
): Promise<T> {
  const { store, onUnrecorded } = context;
  await recordStart(context, action);
  const result = await work().catch((error: unknown) => rejectFailed(context, action, error));
  await store
    .transact((directory) => context.audit.add(directory, [describeEnd(context, action, result)]))
    .then((written) => written())
    // the entry is in the log stream at least
    .catch((error) => context.audit.record([describeEnd(context, action, result)]).catch(() => onUnrecorded(error)));
  return result;
}

/** Records that an action in several transactions begins. */
export const recordStart = <T>(context: OperatorContext, action: Action<T>): Promise<void> =>
  context.audit.record([{ ...describe(context, action), outcome: 'started', error: null }]);

async function rejectFailed<T>(context: OperatorContext, action: Action<T>, error: unknown): Promise<never> {
  // the action's own error matters more than a missing entry
  await context.audit.record([{ ...describe(context, action), ...describeError(error) }]).catch(() => undefined);
  throw error;
}

function describeEnd<T>(context: OperatorContext, action: Action<T>, result: T): AuditEvent {
  const refusal = action.refusalOf?.(result);
  const outcome = refusal === undefined ? ({ outcome: 'ok', error: null } as const) : describeError(refusal);
  return { ...describe(context, action, result), ...outcome };
}

function describe<T>({ actor, correlationId }: OperatorContext, action: Action<T>, result?: T) {
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
  if (error instanceof ThrottledError) return { outcome: 'refused', error: 'TOO_MANY' };
  if (error instanceof ClientError || error instanceof KeyError) return { outcome: 'refused', error: 'INVALID' };
  return { outcome: 'failed', error: error instanceof StorageError ? error.code : 'INTERNAL_ERROR' };
}
