import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Milliseconds between two samples of the event loop. */
const resolutionMs = 20;
const percentiles = [50, 99, 100];

/** Adds the metrics of this process to a registry; returns the function that stops measuring. */
export function addProcessMetrics(registry: Registry): () => void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  new Gauge({
    name: 'subreport_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, of the slowest process',
    labelNames: ['percentile'],
    aggregator: 'max',
    registers,
    collect() {
      for (const percentile of percentiles)
        this.set({ percentile: String(percentile) }, secondsOf(delay.percentile(percentile)));
      delay.reset();
    },
  });
  new Gauge({
    name: 'subreport_processes',
    help: 'Processes of the service that answered, with the one that supervises workers',
    registers,
    collect() {
      this.set(1);
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time since the start, of all processes',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of all processes',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  return () => delay.disable();
}

/** A sample includes the interval between two samples. */
const secondsOf = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) || 0;
