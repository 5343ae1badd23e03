import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { createHostMetrics } from '../metrics/service-metrics.ts';
import { droppedLogLines } from './log-destination.ts';
import { createMetricsCollector } from './worker-metrics.ts';

afterEach(() => vi.useRealTimers());

/** The end of the channel to a worker, as the first process sees it. */
const channel = (): Worker => new EventEmitter() as unknown as Worker;

test('a silent worker is left out of the metrics after 2 seconds, with dropped lines of the others', async () => {
  const [answers, silent] = [channel(), channel()];
  const metrics = await createHostMetrics({
    droppedLogLines: () => 3,
    memoryUse: () => [],
  })();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const collect = createMetricsCollector(new Set([answers, silent]), (worker) => {
    if (worker === answers) queueMicrotask(() => worker.emit('message', { kind: 'metrics', metrics }));
  });
  const collecting = collect();
  await vi.advanceTimersByTimeAsync(2_000);
  const text = await collecting;
  expect(text).toContain('subreport_processes 2\n'); // that worker and this process
  // this process has dropped the lines of other tests
  expect(text).toContain(`subreport_log_lines_dropped_total ${droppedLogLines() + 3}\n`);
});
