import { Gauge, Histogram, type Registry } from 'prom-client';
import type { PoolUse } from '../storage/store.ts';

/** The connection pool of a store. */
export interface MeasuredPool {
  /** `undefined` if the store has no connection pool. */
  readonly poolUse: () => PoolUse | undefined;
  /** Calls `observe` with the seconds that each use of the pool waited for its connection. */
  readonly observePoolWaits: (observe: (seconds: number) => void) => void;
}

/** From an idle connection to the longest wait, 5 seconds. */
const buckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Adds the metrics of the connection pool to a registry. */
export function addPoolMetrics(registry: Registry, { poolUse, observePoolWaits }: MeasuredPool): void {
  const registers = [registry];
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
  const wait = new Histogram({
    name: 'subreport_pool_wait_seconds',
    help: 'Time that each use of a connection to PostgreSQL waited for it; without observations with SQLite',
    buckets,
    registers,
  });
  observePoolWaits((seconds) => wait.observe(seconds));
}
