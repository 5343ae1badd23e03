import { Gauge, type Registry } from 'prom-client';
import type { StorePart } from '../storage/store.ts';
import { createSampler } from './sampler.ts';

/** What is read at each scrape. */
export interface MeasuredState {
  /** Rejects if a report cannot be served now. */
  readonly checkReady: () => Promise<void>;
  /** Milliseconds since all changes of other processes were last known. */
  readonly changeMarkAgeMs: () => number;
  readonly readSize: () => Promise<readonly StorePart[]>;
}

/** Adds the metrics of the store to a registry. */
export function addStateMetrics(registry: Registry, { checkReady, changeMarkAgeMs, readSize }: MeasuredState): void {
  const registers = [registry];
  new Gauge({
    name: 'subreport_ready',
    help: '1 if reports can be served, as /readyz says; 0 if any process cannot serve them',
    aggregator: 'min',
    registers,
    async collect() {
      const isReady = await checkReady().then(
        () => true,
        () => false,
      );
      this.set(Number(isReady));
    },
  });
  new Gauge({
    name: 'subreport_change_mark_age_seconds',
    help: 'Time since a process last knew all changes and revocations of other processes; 0 with SQLite or a pooler',
    aggregator: 'max',
    registers,
    collect() {
      this.set(changeMarkAgeMs() / 1000);
    },
  });
  const readRarely = createSampler(readSize, maxAgeMs);
  new Gauge({
    name: 'subreport_store_bytes',
    help: 'Size of the store on disk by part, at most five minutes old; the write-ahead log only with SQLite',
    labelNames: ['part'],
    aggregator: 'max',
    registers,
    async collect() {
      for (const { part, bytes } of (await readRarely()) ?? []) this.set({ part }, bytes);
    },
  });
}

/** PostgreSQL looks at each file of the database, some thousand of them in a large one. */
const maxAgeMs = 300_000;
