import { overdue } from '../deadline.ts';
import type { TenantId } from '../store.ts';

/** Gives the connection back; `hung` is true if the work did not finish in time. */
export type LeaveLane = (hung: boolean) => void;

/**
 * Shares the pool's connections among tenants, so that a tenant whose shard or worker hangs cannot
 * use them all. One tenant uses at most three quarters of them. A tenant whose last work did not
 * finish in time is suspect until some work of it does: it gets one connection, and all suspect
 * tenants together a quarter.
 */
export class TenantLanes {
  readonly #perTenantMax: number;
  readonly #suspectsMax: number;
  readonly #inUse = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Tenants whose last work hung; work that finishes in time removes its tenant. */
  readonly #suspects = new Set<string>();
  #suspectsInUse = 0;

  constructor(poolSize: number) {
    const quarter = Math.ceil(poolSize / 4);
    this.#perTenantMax = Math.max(1, poolSize - quarter);
    this.#suspectsMax = quarter;
  }

  /** Whether the tenant's last work hung. */
  isSuspect(tenant: string): boolean {
    return this.#suspects.has(tenant);
  }

  /** Work that waits for one of its tenant's connections. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Resolves once the tenant may use one more connection; rejects with `UNAVAILABLE` if that takes
   * longer than the deadline.
   */
  async enter(tenant: TenantId, deadline: number): Promise<LeaveLane> {
    if (this.#hasRoom(tenant)) return this.#take(tenant);
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(tenant) ?? new Set();
      const stopWaiting = (): void => {
        clearTimeout(timer);
        waiting.delete(start);
        if (waiting.size === 0) this.#waiting.delete(tenant);
      };
      const start = (): void => {
        stopWaiting();
        resolve(this.#take(tenant));
      };
      const timer = setTimeout(
        () => {
          stopWaiting();
          reject(overdue());
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.set(tenant, waiting.add(start));
    });
  }

  #hasRoom(tenant: string): boolean {
    const inUse = this.#inUse.get(tenant) ?? 0;
    if (!this.#suspects.has(tenant)) return inUse < this.#perTenantMax;
    return inUse === 0 && this.#suspectsInUse < this.#suspectsMax;
  }

  #take(tenant: TenantId): LeaveLane {
    const isSuspect = this.#suspects.has(tenant);
    this.#count(tenant, isSuspect, 1);
    return (hung) => {
      this.#count(tenant, isSuspect, -1);
      if (hung) this.#suspects.add(tenant);
      else this.#suspects.delete(tenant);
      this.#startWaiting(tenant);
      if (isSuspect) for (const other of this.#suspects) this.#startWaiting(other);
    };
  }

  #count(tenant: TenantId, isSuspect: boolean, more: 1 | -1): void {
    const inUse = (this.#inUse.get(tenant) ?? 0) + more;
    if (inUse === 0) this.#inUse.delete(tenant);
    else this.#inUse.set(tenant, inUse);
    if (isSuspect) this.#suspectsInUse += more;
  }

  #startWaiting(tenant: string): void {
    for (const start of this.#waiting.get(tenant) ?? []) {
      if (!this.#hasRoom(tenant)) return;
      start();
    }
  }
}
