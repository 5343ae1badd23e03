import type { Worker } from 'node:cluster';
import { aggregateMetrics, createHostMetrics, type MetricValues } from '../metrics/service-metrics.ts';
import { memoryUse } from '../storage/memory-use.ts';
import { droppedLogLines } from './log-destination.ts';
import type { PrimaryMessage, WorkerMessage } from './worker-messages.ts';

/** Longest wait for the metrics of a worker, in milliseconds; a busy one answers late. */
const answerMsMax = 2_000;

type Send = (worker: Worker, message: PrimaryMessage) => void;

/**
 * Makes the function that adds up the metrics of all workers and of the first process. A worker
 * that does not answer in time is left out. Scrapes at the same time share one result.
 */
export function createMetricsCollector(workers: ReadonlySet<Worker>, send: Send): () => Promise<string> {
  const readOwn = createHostMetrics({ droppedLogLines, memoryUse });
  let collecting: Promise<string> | undefined;
  const collect = async (): Promise<string> => {
    const answers = await Promise.all([readOwn(), ...[...workers].map((worker) => askWorker(worker, send))]);
    return aggregateMetrics(answers.filter((each) => each !== undefined));
  };
  return () => {
    collecting ??= collect().finally(() => {
      collecting = undefined;
    });
    return collecting;
  };
}

function askWorker(worker: Worker, send: Send): Promise<MetricValues | undefined> {
  return new Promise((resolve) => {
    const settle = (metrics: MetricValues | undefined): void => {
      clearTimeout(timer);
      worker.off('message', receive).off('exit', giveUp);
      resolve(metrics);
    };
    const giveUp = (): void => settle(undefined);
    const receive = (message: WorkerMessage): void => {
      if (message.kind === 'metrics') settle(message.metrics);
    };
    const timer = setTimeout(giveUp, answerMsMax);
    worker.on('message', receive).on('exit', giveUp);
    send(worker, { kind: 'metrics?' });
  });
}
