import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MemoryUse } from '../storage/bounded-map.ts';

/** State that each process has, whether it serves requests or supervises workers. */
export interface HostState {
  readonly droppedLogLines: () => number;
  readonly memoryUse: () => readonly MemoryUse[];
  /** Workers that this process has replaced since its start; absent if it supervises none. */
  readonly replacedWorkers?: () => number;
}

/** Milliseconds between two samples of the event loop. */
const resolutionMs = 20;
const percentiles = [50, 99, 100];

/** Adds the metrics of this process to a registry; returns the function that stops measuring. */
export function addProcessMetrics(registry: Registry, state: HostState): () => void {
  const { droppedLogLines, memoryUse, replacedWorkers = () => 0 } = state;
  addTotal(registry, 'subreport_workers_replaced_total', 'Workers that were replaced since the start', replacedWorkers);
  addTotal(
    registry,
    'subreport_log_lines_dropped_total',
    'Log lines that were dropped since the start because standard output did not accept them',
    droppedLogLines,
  );
  addMemoryMetrics(registry, memoryUse);
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

/** Adds a counter that is kept elsewhere. */
function addTotal(registry: Registry, name: string, help: string, count: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(count());
    },
  });
}

/** Adds the metrics of the bounded memories of a process to a registry. */
function addMemoryMetrics(registry: Registry, memoryUse: () => readonly MemoryUse[]): void {
  const registers = [registry];
  new Gauge({
    name: 'subreport_memory_bytes',
    help: 'Estimated bytes of the caches and counters in memory',
    labelNames: ['memory'],
    registers,
    collect() {
      for (const { name, bytes } of memoryUse()) this.set({ memory: name }, bytes);
    },
  });
  new Counter({
    name: 'subreport_memory_lookups_total',
    help: 'Lookups in the caches and counters in memory, by whether they found an entry',
    labelNames: ['memory', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { name, hits, misses } of memoryUse()) {
        this.inc({ memory: name, result: 'hit' }, hits);
        this.inc({ memory: name, result: 'miss' }, misses);
      }
    },
  });
}

/** Constants of a process that serves requests, except that certificates are renewed. */
export interface ServiceFacts {
  readonly version: string;
  /** When the certificate of each listener that uses TLS expires, in UTC epoch seconds. */
  readonly certificateExpiries: () => readonly (readonly [listener: string, expiresAt: number])[];
}

/** Adds the version, as a label of a metric that is always 1, and the expiry of certificates. */
export function addServiceFacts(registry: Registry, { version, certificateExpiries }: ServiceFacts): void {
  new Gauge({
    name: 'subreport_build_info',
    help: 'Always 1; the label is the version of subreport',
    labelNames: ['version'],
    aggregator: 'max',
    registers: [registry],
  }).set({ version }, 1);
  new Gauge({
    name: 'subreport_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that a listener uses expires, as a Unix time; absent without TLS',
    labelNames: ['listener'],
    aggregator: 'min',
    registers: [registry],
    collect() {
      for (const [listener, expiresAt] of certificateExpiries()) this.set({ listener }, expiresAt);
    },
  });
}
