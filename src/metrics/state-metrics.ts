import { Gauge, type Registry } from 'prom-client';
import type { PoolUse } from '../storage/store.ts';

/** What is read at each scrape. */
export interface MeasuredState {
  /** Rejects if a report cannot be served now. */
  readonly checkReady: () => Promise<void>;
  /** `undefined` if the store has no connection pool. */
  readonly poolUse: () => PoolUse | undefined;
}

/** Adds the metrics of the store to a registry. */
export function addStateMetrics(registry: Registry, { checkReady, poolUse }: MeasuredState): void {
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
    name: 'subreport_pool_connections',
    help: 'Connections to PostgreSQL by state; absent with SQLite',
    labelNames: ['state'],
    registers,
    collect() {
      const use = poolUse();
      if (use === undefined) return;
      this.set({ state: 'busy' }, use.busy);
      this.set({ state: 'idle' }, use.idle);
    },
  });
  new Gauge({
    name: 'subreport_pool_waiting',
    help: 'Requests that wait for a connection to PostgreSQL; 0 with SQLite',
    registers,
    collect() {
      this.set(poolUse()?.waiting ?? 0);
    },
  });
}
