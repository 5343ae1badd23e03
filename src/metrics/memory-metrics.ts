import { Counter, Gauge, type Registry } from 'prom-client';
import type { MemoryUse } from '../storage/bounded-map.ts';

/** Adds the metrics of the bounded memories of a process to a registry. */
export function addMemoryMetrics(registry: Registry, memoryUse: () => readonly MemoryUse[]): void {
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
