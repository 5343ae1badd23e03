import type { Attempt } from '../auth/failure-budget.ts';
import type { Counters } from './counters.ts';

/** Messages from a worker to the first process. */
export type WorkerMessage =
  | { readonly kind: 'serving' }
  | { readonly kind: 'alive' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'call'; readonly id: number; readonly operation: Operation; readonly argument: never };

/** Messages from the first process to a worker. */
export type PrimaryMessage =
  | { readonly kind: 'drain' }
  | { readonly kind: 'alive?' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown };

type Operation = keyof typeof operations;

/** The counter operations that a worker may call. */
const operations = {
  countRequest: ({ requests }: Counters, key: string) => requests.add(key),
  secondsToWait: ({ failures }: Counters, attempt: Attempt) => failures.secondsToWait(attempt),
  countFailure: ({ failures }: Counters, attempt: Attempt) => failures.count(attempt),
} as const;

/** Runs a counter operation for a worker, in the primary process. */
export async function runForWorker(
  counters: Counters,
  { id, operation, argument }: Extract<WorkerMessage, { kind: 'call' }>,
): Promise<PrimaryMessage> {
  return { kind: 'result', id, value: await operations[operation](counters, argument) };
}

/** The channel of a worker to the first process. */
export interface PrimaryChannel {
  send(message: WorkerMessage): void;
  on(event: 'message', listener: (message: PrimaryMessage) => void): unknown;
}

/** Counters that call the primary process, so that a limit holds for all workers together. */
export function createRemoteCounters(channel: PrimaryChannel): Counters {
  const waiting = new Map<number, (value: never) => void>();
  let lastId = 0;
  channel.on('message', (message) => {
    if (message.kind !== 'result') return;
    waiting.get(message.id)?.(message.value as never);
    waiting.delete(message.id);
  });
  const call = <O extends Operation>(
    operation: O,
    argument: Parameters<(typeof operations)[O]>[1],
  ): Promise<Awaited<ReturnType<(typeof operations)[O]>>> =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      channel.send({ kind: 'call', id: lastId, operation, argument: argument as never });
    });
  return {
    requests: { add: (key) => call('countRequest', key) },
    failures: {
      secondsToWait: (attempt) => call('secondsToWait', attempt),
      count: (attempt) => call('countFailure', attempt),
    },
  };
}
