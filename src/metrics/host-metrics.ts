import { Counter, Gauge, type Registry } from 'prom-client';
import type { MemoryUse } from '../storage/memory-use.ts';
import { addMemoryMetrics } from './memory-metrics.ts';

/** The result of the last check of the store (`subreport doctor`) that this process started. */
export interface CheckResult {
  readonly problems: number;
  /** UTC epoch seconds. */
  readonly finishedAt: number;
}

/** What each process knows, whether it serves requests or supervises workers. */
export interface HostState {
  /** Log lines that this process has dropped. */
  readonly droppedLogLines: () => number;
  /** `undefined` if this process has not checked the store. */
  readonly lastCheck: () => CheckResult | undefined;
  readonly memoryUse: () => readonly MemoryUse[];
}

/** Adds the metrics of the log and of the checks of the store to a registry. */
export function addHostMetrics(registry: Registry, { droppedLogLines, lastCheck, memoryUse }: HostState): void {
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
  new Gauge({
    name: 'subreport_doctor_problems',
    help: 'Failed checks of the last check of the store; 0 if there was none since the start',
    registers,
    collect() {
      this.set(lastCheck()?.problems ?? 0);
    },
  });
  new Gauge({
    name: 'subreport_doctor_last_run_timestamp_seconds',
    help: 'When the store was last checked, as a Unix time; 0 if it was not checked since the start',
    aggregator: 'max',
    registers,
    collect() {
      this.set(lastCheck()?.finishedAt ?? 0);
    },
  });
}
