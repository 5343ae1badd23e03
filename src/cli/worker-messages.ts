import type { Attempt } from '../auth/failure-budget.ts';
import type { Counters } from './counters.ts';

/** What a worker tells the first process. */
export type WorkerMessage =
  | { readonly kind: 'serving' }
  | { readonly kind: 'alive' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question; readonly about: never };

/** What the first process tells a worker. */
export type PrimaryMessage =
  | { readonly kind: 'drain' }
  | { readonly kind: 'alive?' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown };

type Question = keyof typeof answers;

/** What a worker may ask of the counters. */
const answers = {
  countRequest: ({ requests }: Counters, key: string) => requests.add(key),
  secondsToWait: ({ failures }: Counters, attempt: Attempt) => failures.secondsToWait(attempt),
  countFailure: ({ failures }: Counters, attempt: Attempt) => failures.count(attempt),
} as const;

/** Counts for a worker, in the first process. */
export async function answerWorker(
  counters: Counters,
  { id, question, about }: Extract<WorkerMessage, { kind: 'ask' }>,
): Promise<PrimaryMessage> {
  return { kind: 'answer', id, value: await answers[question](counters, about) };
}

/** How a worker sends to the first process, and hears from it. */
export interface PrimaryChannel {
  send(message: WorkerMessage): void;
  on(event: 'message', listener: (message: PrimaryMessage) => void): unknown;
}

/**
 * Counters that ask the first process, so that a limit holds for all workers together, whichever of
 * them is asked.
 */
export function askForCounters(channel: PrimaryChannel): Counters {
  const waiting = new Map<number, (value: never) => void>();
  let asked = 0;
  channel.on('message', (message) => {
    if (message.kind !== 'answer') return;
    waiting.get(message.id)?.(message.value as never);
    waiting.delete(message.id);
  });
  const ask = <Q extends Question>(
    question: Q,
    about: Parameters<(typeof answers)[Q]>[1],
  ): Promise<Awaited<ReturnType<(typeof answers)[Q]>>> =>
    new Promise((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      channel.send({ kind: 'ask', id: asked, question, about: about as never });
    });
  return {
    requests: { add: (key) => ask('countRequest', key) },
    failures: {
      secondsToWait: (attempt) => ask('secondsToWait', attempt),
      count: (attempt) => ask('countFailure', attempt),
    },
  };
}
