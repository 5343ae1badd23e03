import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { readMetricsOf } from './read-metric.ts';

/** State that each process has, whether it serves requests or supervises workers. */
export interface HostState {
  readonly droppedLogLines: () => number;
  /** Workers that this process has replaced since its start; absent if it supervises none. */
  readonly replacedWorkers?: () => number;
}

/** Milliseconds between two samples of the event loop. */
const resolutionMs = 20;
const percentiles = [50, 99, 100];

/** Adds the metrics of this process to a registry; returns the function that stops measuring. */
export function addProcessMetrics(registry: Registry, state: HostState): () => void {
  const { gauge, counter } = readMetricsOf(registry);
  const { droppedLogLines, replacedWorkers = () => 0 } = state;
  counter('subreport_workers_replaced_total', 'Workers that were replaced since the start', replacedWorkers);
  counter(
    'subreport_log_lines_dropped_total',
    'Log lines that were dropped since the start because standard output did not accept them',
    droppedLogLines,
  );
  gauge(
    'subreport_processes',
    'Processes of the service that answered, with the one that supervises workers',
    () => 1,
    { aggregator: 'sum' },
  );
  counter('process_cpu_seconds_total', 'CPU time since the start, of all processes', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_resident_memory_bytes', 'Resident memory of all processes', () => process.memoryUsage.rss(), {
    aggregator: 'sum',
  });
  return addEventLoopDelay(registry);
}

function addEventLoopDelay(registry: Registry): () => void {
  const { gauge } = readMetricsOf(registry);
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  gauge(
    'subreport_event_loop_delay_seconds',
    'Delay of the event loop since the last scrape, of the slowest process',
    () => {
      const found = percentiles.map(
        (percentile) => [{ percentile: String(percentile) }, secondsOf(delay.percentile(percentile))] as const,
      );
      delay.reset();
      return found;
    },
    { labels: ['percentile'] },
  );
  return () => delay.disable();
}

/** A sample includes the interval between two samples. */
const secondsOf = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) || 0;
