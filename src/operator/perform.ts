import type { Store } from '../storage/store.ts';
import type { ActionName, ActionTarget } from './action.ts';
import type { Actor } from './actor.ts';

/** What every action of the operator needs: the store, the clock and who acts. */
export interface OperatorContext {
  readonly store: Store;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly actor: Actor;
}

/** An action: its name, and what it changes as far as that is known before it runs. */
interface Action<T> {
  readonly name: ActionName;
  readonly target: ActionTarget;
  /** The rest of the target, known only after the action: an id may have been generated. */
  readonly targetOf?: (result: T) => ActionTarget;
}

/**
 * Runs an action of the operator. Every change that an operator makes, by the API or by a command,
 * passes through here.
 */
export async function perform<T>(_context: OperatorContext, _action: Action<T>, work: () => Promise<T>): Promise<T> {
  return work();
}
