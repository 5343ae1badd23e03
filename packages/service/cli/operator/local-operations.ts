import { queryOf, refusalOf } from '../../../cli/remote/operation-call.ts';
import {
  type CallOperation,
  type OperatorApiId,
  type OperatorInput,
  operatorApi,
} from '../../../contract/operator/operations.ts';
import { ProblemError } from '../../../contract/problem.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { operatorTokenRoutes, storeRoutes } from '../../http/operator/operator-handlers.ts';
import { type AddRoute, readInput } from '../../http/operator/operator-routes.ts';
import { readConfig } from '../config.ts';
import { withOperator } from '../store/command-context.ts';
import { keyRingOptions } from '../store/key-ring-options.ts';

type Handle = (call: never) => Promise<object | string>;

/** Operations that need the keys of the store; the first command of a new store creates them. */
const keyOperations: readonly OperatorApiId[] = ['listKeys', 'rotateKeys'];

/**
 * Runs a command with an open store. Its operations are those of the operator's API, as the user of
 * the machine.
 */
export function withLocalOperations<T>(work: (call: CallOperation) => Promise<T>): Promise<T> {
  const config = readConfig();
  return withOperator(config, (context) => {
    const ring = keyRingOptions(config, context.store);
    const handlers = new Map<OperatorApiId, Handle>();
    const add: AddRoute = (id, handle) => void handlers.set(id, handle);
    for (const addGroup of [...storeRoutes(ring), operatorTokenRoutes()]) addGroup(add);
    return work(async (id, input = {}) => {
      const read = readChecked(id, input);
      if (keyOperations.includes(id)) await openKeyRing(ring);
      const handle = handlers.get(id);
      if (handle === undefined) throw new TypeError(`Cannot run ${id} on the store: it must have a handler`);
      // a command has no deadline
      const call = { context, contextWithoutDeadline: () => context, ...read };
      return (await handle(call as never)) as never;
    });
  });
}

/** Checks the input of an operation as its route does. */
function readChecked<Id extends OperatorApiId>(
  id: Id,
  { params = {}, query = {}, body = {} as never }: OperatorInput<Id>,
): ReturnType<typeof readInput> {
  try {
    return readInput(operatorApi[id], params, queryOf(query).slice(1), Buffer.from(JSON.stringify(body)));
  } catch (error) {
    throw error instanceof ProblemError ? refusalOf(error.code, error.messages) : error;
  }
}
