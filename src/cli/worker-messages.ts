import type { Counters } from './counters.ts';

/** What a worker tells the first process. */
export type WorkerMessage =
  | { readonly kind: 'serving' }
  | { readonly kind: 'alive' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question; readonly key: string };

/** What the first process tells a worker. */
export type PrimaryMessage =
  | { readonly kind: 'drain' }
  | { readonly kind: 'alive?' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown };

type Question = keyof typeof answers;

/** What a worker may ask of the counters. */
const answers = {
  countRequest: ({ requests }: Counters, key: string) => requests.count(key),
  secondsToWait: ({ failures }: Counters, key: string) => failures.secondsToWait(key),
  countFailure: ({ failures }: Counters, key: string) => failures.count(key),
} as const;

/** Counts for a worker, in the first process. */
export async function answerWorker(
  counters: Counters,
  { id, question, key }: Extract<WorkerMessage, { kind: 'ask' }>,
): Promise<PrimaryMessage> {
  return { kind: 'answer', id, value: await answers[question](counters, key) };
}

/** How a worker sends to the first process, and hears from it. */
export interface PrimaryChannel {
  send(message: WorkerMessage): void;
  on(event: 'message', listener: (message: PrimaryMessage) => void): unknown;
}

/** Counters that ask the first process, so that a limit holds for all workers together, whichever of them is asked. */
export function askForCounters(channel: PrimaryChannel): Counters {
  const waiting = new Map<number, (value: never) => void>();
  let asked = 0;
  channel.on('message', (message) => {
    if (message.kind !== 'answer') return;
    waiting.get(message.id)?.(message.value as never);
    waiting.delete(message.id);
  });
  const ask = <Q extends Question>(question: Q, key: string): Promise<Awaited<ReturnType<(typeof answers)[Q]>>> =>
    new Promise((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      channel.send({ kind: 'ask', id: asked, question, key });
    });
  return {
    requests: { count: (key) => ask('countRequest', key) },
    failures: {
      secondsToWait: (key) => ask('secondsToWait', key),
      count: (key) => ask('countFailure', key),
    },
  };
}
