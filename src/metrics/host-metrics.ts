import { Counter, type Registry } from 'prom-client';
import type { MemoryUse } from '../storage/bounded-map.ts';
import { addMemoryMetrics } from './memory-metrics.ts';

/** What each process knows, whether it serves requests or supervises workers. */
export interface HostState {
  /** Log lines that this process has dropped. */
  readonly droppedLogLines: () => number;
  readonly memoryUse: () => readonly MemoryUse[];
}

/** Adds the metrics of the log and of the memories to a registry. */
export function addHostMetrics(registry: Registry, { droppedLogLines, memoryUse }: HostState): void {
  addMemoryMetrics(registry, memoryUse);
  const registers = [registry];
  new Counter({
    name: 'subreport_log_lines_dropped_total',
    help: 'Log lines that were dropped since the start because standard output did not accept them',
    registers,
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
}
