import { StorageError } from '../error.ts';

/** One reader thread, as far as the sharing of them knows it. */
export interface ReaderSlot {
  /** Makes the statement under way fail soon, and those that follow it, until `resume`. */
  interrupt(): void;
  resume(): void;
}

/** Bounds of the sharing. */
interface ReaderSlotLimits {
  /**
   * Threads that one tenant's work may hold at once: fewer than there are, so that another tenant's
   * never waits for all of it.
   */
  readonly perTenantMax: number;
  /** Work of one tenant that may wait. */
  readonly waitingMax: number;
}

interface Job<S> {
  readonly tenant: string;
  /** The only slot that the work may run on. */
  readonly pinned: S | undefined;
  readonly start: (slot: S) => void;
}

/**
 * Shares reader threads between tenants. Each thread does one piece of work at a time; tenants
 * whose work waits take turns, and none holds all threads. Work waits, and runs, for as long as its
 * signal says.
 */
export class ReaderSlots<S extends ReaderSlot> {
  readonly #slots: readonly S[];
  readonly #limits: ReaderSlotLimits;
  readonly #idle: Set<S>;
  /** Work that waits, by tenant; the tenant whose turn is next comes first. */
  readonly #waiting = new Map<string, Job<S>[]>();
  readonly #held = new Map<string, number>();

  constructor(slots: readonly S[], limits: ReaderSlotLimits) {
    this.#slots = slots;
    this.#limits = limits;
    this.#idle = new Set(slots);
  }

  /**
   * Runs work on a thread once it is the tenant's turn. Rejects with `BUSY` when too much waits,
   * and with the reason of the signal when that aborts.
   */
  async run<T>(
    tenant: string,
    work: (slot: S) => Promise<T>,
    { signal, pinned }: { readonly signal?: AbortSignal | undefined; readonly pinned?: S } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const granted = Promise.withResolvers<S>();
    let held: S | undefined;
    const job: Job<S> = { tenant, pinned, start: granted.resolve };
    const onAbort = (): void => {
      if (held === undefined) this.#forget(job);
      else held.interrupt();
      aborted.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#enqueue(job);
    const running = granted.promise.then(async (slot) => {
      held = slot;
      try {
        return await work(slot);
      } finally {
        this.#release(slot, tenant);
      }
    });
    try {
      return await Promise.race([running, aborted.promise]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #enqueue(job: Job<S>): void {
    const jobs = this.#waiting.get(job.tenant) ?? [];
    if (jobs.length >= this.#limits.waitingMax) {
      throw new StorageError(
        'BUSY',
        `Cannot read the embedded store now: at most ${this.#limits.waitingMax} long reads of one tenant may wait: wait for some of them to end`,
      );
    }
    jobs.push(job);
    this.#waiting.set(job.tenant, jobs);
    this.#startWaiting();
  }

  #forget(job: Job<S>): void {
    const jobs = this.#waiting.get(job.tenant)?.filter((each) => each !== job) ?? [];
    if (jobs.length === 0) this.#waiting.delete(job.tenant);
    else this.#waiting.set(job.tenant, jobs);
  }

  #release(slot: S, tenant: string): void {
    slot.resume();
    const rest = (this.#held.get(tenant) ?? 1) - 1;
    if (rest === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, rest);
    this.#idle.add(slot);
    this.#startWaiting();
  }

  /** Starts what waits and may run, one piece of each tenant in turn. */
  #startWaiting(): void {
    for (const slot of this.#slots) {
      if (!this.#idle.has(slot)) continue;
      const job = this.#takeJob(slot);
      if (job === undefined) continue;
      this.#idle.delete(slot);
      this.#held.set(job.tenant, (this.#held.get(job.tenant) ?? 0) + 1);
      job.start(slot);
    }
  }

  #takeJob(slot: S): Job<S> | undefined {
    for (const [tenant, jobs] of this.#waiting) {
      if ((this.#held.get(tenant) ?? 0) >= this.#limits.perTenantMax) continue;
      const job = jobs.find(({ pinned }) => pinned === undefined || pinned === slot);
      if (job === undefined) continue;
      this.#forget(job);
      const rest = this.#waiting.get(tenant);
      // its next turn comes after the others'
      if (rest !== undefined && this.#waiting.delete(tenant)) this.#waiting.set(tenant, rest);
      return job;
    }
    return undefined;
  }
}
