import type { Attempt } from '../../auth/failure-budget.ts';
import type { ReadHealth } from '../../metrics/health.ts';
import type { MetricValues } from '../../metrics/metric-values.ts';
import type { Counters, OwnCounters } from './counters.ts';
import { createLeasedCounter } from './leased-counter.ts';

export type WorkerMessage =
  | { readonly kind: 'serving' }
  /** It finishes its requests, and exits. */
  | { readonly kind: 'draining' }
  | { readonly kind: 'alive' }
  | { readonly kind: 'metrics'; readonly metrics: MetricValues }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'call'; readonly id: number; readonly operation: Operation; readonly argument: never };

/** Messages from the first process to a worker. */
export type PrimaryMessage =
  | { readonly kind: 'drain' }
  | { readonly kind: 'alive?' }
  | { readonly kind: 'metrics?' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown };

type Operation = keyof typeof operations;

/** What the first process does for its workers. */
interface Primary extends Pick<OwnCounters, 'failures' | 'windows'> {
  /** Writes the metrics of all workers. */
  readonly renderMetrics: () => Promise<string>;
  readonly readHealth: ReadHealth;
}

/** The operations that a worker may call. */
const operations = {
  countRequests: ({ windows }: Primary, { key, by }: { readonly key: string; readonly by: number }) =>
    windows.add(key, by),
  secondsToWait: ({ failures }: Primary, attempt: Attempt) => failures.secondsToWait(attempt),
  countFailure: ({ failures }: Primary, attempt: Attempt) => failures.count(attempt),
  renderMetrics: ({ renderMetrics }: Primary, _all: undefined) => renderMetrics(),
  readHealth: ({ readHealth }: Primary, _all: undefined) => readHealth(),
} as const;

export async function runForWorker(
  primary: Primary,
  { id, operation, argument }: Extract<WorkerMessage, { kind: 'call' }>,
): Promise<PrimaryMessage> {
  return { kind: 'result', id, value: await operations[operation](primary, argument) };
}

export interface PrimaryChannel {
  send(message: WorkerMessage): void;
  on(event: 'message', listener: (message: PrimaryMessage) => void): unknown;
}

type PrimaryCalls = Pick<Primary, 'renderMetrics' | 'readHealth'> & { readonly counters: Counters };

/** Calls the first process, so that limits and metrics are those of all workers together. */
export function callPrimary(channel: PrimaryChannel): PrimaryCalls {
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
    counters: {
      requests: createLeasedCounter((key, by) => call('countRequests', { key, by })),
      failures: {
        secondsToWait: (attempt) => call('secondsToWait', attempt),
        count: (attempt) => call('countFailure', attempt),
      },
    },
    renderMetrics: () => call('renderMetrics', undefined),
    readHealth: () => call('readHealth', undefined),
  };
}
