import type { Worker } from 'node:cluster';
import type { MetricValues } from '../../metrics/metric-values.ts';
import { aggregateMetrics, countsOf, createHostMetrics, type ReadableMetrics } from '../../metrics/service-metrics.ts';
import { droppedLogLines } from '../log/logger.ts';
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts';

/** Longest wait for the metrics of a worker, in milliseconds; a busy one answers late. */
const answerMsMax = 2_000;

type Send = (worker: Worker, message: PrimaryMessage) => void;

/**
 * Makes the function that adds up the metrics of all workers and of the first process. The counts
 * of the last response of a worker remain in the sums if it does not respond in time, and after it
 * has exited, so counters never decrease. Scrapes at the same time share one result.
 */
export function createMetricsCollector(
  workers: ReadonlySet<Worker>,
  send: Send,
  replacedWorkers = () => 0,
): () => Promise<ReadableMetrics> {
  const readOwn = createHostMetrics({ droppedLogLines, replacedWorkers });
  const latest = new Map<Worker, MetricValues>();
  let ended: Promise<MetricValues> = Promise.resolve([]);
  const follow = (worker: Worker): void => {
    latest.set(worker, []);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'metrics') latest.set(worker, message.metrics);
    });
    // not at 'exit', when its last message may not have been received yet
    worker.once('disconnect', () => {
      const last = countsOf(latest.get(worker) ?? []);
      latest.delete(worker);
      ended = ended.then((sum) => aggregateMetrics([sum, last]).values());
    });
  };
  const collect = async (): Promise<ReadableMetrics> => {
    for (const worker of workers) if (!latest.has(worker)) follow(worker);
    const asked = [...latest.keys()].map(async (worker) => ((await answers(worker, send)) ? worker : undefined));
    const [own, ...answered] = await Promise.all([readOwn(), ...asked]);
    const running = [...latest].map(([worker, metrics]) => (answered.includes(worker) ? metrics : countsOf(metrics)));
    return aggregateMetrics([own, ...running, await ended]);
  };
  let collecting: Promise<ReadableMetrics> | undefined;
  return () => {
    collecting ??= collect().finally(() => {
      collecting = undefined;
    });
    return collecting;
  };
}

/** Asks a worker for its metrics; resolves with whether it answered. */
function answers(worker: Worker, send: Send): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isAnswered: boolean): void => {
      clearTimeout(timer);
      worker.off('message', receive).off('disconnect', giveUp);
      resolve(isAnswered);
    };
    const giveUp = (): void => settle(false);
    const receive = (message: WorkerMessage): void => {
      if (message.kind === 'metrics') settle(true);
    };
    const timer = setTimeout(giveUp, answerMsMax);
    worker.on('message', receive).on('disconnect', giveUp);
    send(worker, { kind: 'metrics?' });
  });
}
