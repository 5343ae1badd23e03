import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { createHostMetrics, type ReadableMetrics } from '../../metrics/service-metrics.ts';
import { droppedLogLines } from '../log/logger.ts';
import { createMetricsCollector } from './worker-metrics.ts';

afterEach(() => vi.useRealTimers());

/** The end of the channel to a worker, as the first process sees it. */
const channel = (): Worker => new EventEmitter() as unknown as Worker;

/** Collects the metrics; those who are silent have had their time. */
async function scrape(collect: () => Promise<ReadableMetrics>): Promise<string> {
  const collecting = collect();
  await vi.advanceTimersByTimeAsync(2_000);
  return (await collecting).render();
}

const ownLines = 'subreport_log_lines_dropped_total';

test('what a worker counted remains in the sums while it is silent, and after it has exited', async () => {
  const [steady, other] = [channel(), channel()];
  const dropped = new Map([
    [steady, 3],
    [other, 5],
  ]);
  const metricsOf = (worker: Worker) => createHostMetrics({ droppedLogLines: () => dropped.get(worker) ?? 0 })();
  const isSilent = new Set<Worker>();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const workers = new Set([steady, other]);
  const collect = createMetricsCollector(workers, (worker) => {
    if (isSilent.has(worker)) return;
    void metricsOf(worker).then((metrics) => worker.emit('message', { kind: 'metrics', metrics }));
  });
  /** The processes that answered, and the dropped lines of the workers. */
  const seen = async (): Promise<readonly number[]> => {
    const text = await scrape(collect);
    const metric = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    // this process has dropped the lines of other tests
    return [metric('subreport_processes'), metric(ownLines) - droppedLogLines()];
  };
  expect(await seen()).toEqual([3, 8]); // with this process
  isSilent.add(other);
  dropped.set(steady, 4);
  expect(await seen()).toEqual([2, 9]);
  const last = await createHostMetrics({ droppedLogLines: () => 7 })();
  workers.delete(other);
  other.emit('message', { kind: 'metrics', metrics: last }); // as it exits
  other.emit('disconnect');
  expect(await seen()).toEqual([2, 11]);
  workers.delete(steady);
  steady.emit('disconnect');
  expect(await seen()).toEqual([1, 11]);
});

test('a worker that has never answered is left out of the metrics after 2 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const replaced = () => 3;
  const text = await scrape(createMetricsCollector(new Set([channel()]), () => undefined, replaced));
  expect(text).toContain('subreport_processes 1\n');
  expect(text).toContain(`${ownLines} ${droppedLogLines()}\n`);
  expect(text).toContain('subreport_workers_replaced_total 3\n');
});
