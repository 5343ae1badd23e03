import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A group starts at the latest this many milliseconds after the one before it, even if that still
 * runs: it may wait for a lock.
 */
const headStartMs = 20;

/** Items that run together. */
interface Group<I, O> {
  readonly items: I[];
  readonly results: Promise<readonly O[]>;
}

/**
 * Makes a function that runs items in groups: those that arrive while a group runs form the next
 * one, so that under load a round trip or a commit serves several. If a group fails without an
 * effect, each of its items runs alone, so that none fails because of another.
 *
 * @param run returns the results of items in their order
 * @param hadNoEffect whether an error of `run` means that no item had an effect
 */
export function createGroups<I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  hadNoEffect: (error: unknown) => boolean,
): (item: I) => Promise<O> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Group<I, O> | undefined;
  const runNext = async (items: readonly I[]): Promise<readonly O[]> => {
    await last;
    next = undefined;
    const running = run(items);
    last = Promise.race([running.catch(() => undefined), sleep(headStartMs, undefined, { ref: false })]);
    return running;
  };
  return async (item) => {
    if (next === undefined) {
      const items: I[] = [];
      next = { items, results: runNext(items) };
    }
    const { items, results } = next;
    const index = items.push(item) - 1;
    try {
      return (await results)[index] as O;
    } catch (error) {
      if (items.length === 1 || !hadNoEffect(error)) throw error;
      const [result] = await run([item]);
      return result as O;
    }
  };
}
