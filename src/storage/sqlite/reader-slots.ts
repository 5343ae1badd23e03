import { StorageError } from '../error.ts';

/** The part of a reader thread that the scheduler needs. */
export interface ReaderSlot {
  /** Makes the running statement fail soon, and later ones too, until `resume`. */
  interrupt(): void;
  resume(): void;
}

/** Limits of the scheduler. */
interface ReaderSlotLimits {
  /**
   * Maximum threads that one tenant's work holds at once: fewer than there are, so that one tenant
   * cannot block the others.
   */
  readonly perTenantMax: number;
  /** Maximum waiting jobs per tenant. */
  readonly waitingMax: number;
}

interface Job<S> {
  readonly tenant: string;
  /** The only slot that may run the work. */
  readonly pinned: S | undefined;
  readonly start: (slot: S) => void;
}

/**
 * Schedules reader threads fairly between tenants. Each thread runs one job at a time; tenants with
 * waiting jobs take turns, and none holds all threads. A job is cancelled when its signal aborts,
 * whether it waits or runs.
 */
export class ReaderSlots<S extends ReaderSlot> {
  readonly #slots: readonly S[];
  readonly #limits: ReaderSlotLimits;
  readonly #idle: Set<S>;
  /** Waiting jobs by tenant; the tenant whose turn is next comes first. */
  readonly #waiting = new Map<string, Job<S>[]>();
  readonly #held = new Map<string, number>();

  constructor(slots: readonly S[], limits: ReaderSlotLimits) {
    this.#slots = slots;
    this.#limits = limits;
    this.#idle = new Set(slots);
  }

  /** The threads that run nothing now, or all if each runs something. */
  get available(): readonly S[] {
    return this.#idle.size === 0 ? this.#slots : [...this.#idle];
  }

  /**
   * Runs work on a thread once it is the tenant's turn. Rejects with `BUSY` if too many jobs wait,
   * and with the signal's reason if it aborts.
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
        `Cannot read the embedded store now: at most ${this.#limits.waitingMax} long reads of one tenant may wait: wait for some of them to finish`,
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

  /** Starts waiting jobs on idle slots, one of each tenant in turn. */
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
      // the tenant goes to the back of the queue
      if (rest !== undefined && this.#waiting.delete(tenant)) this.#waiting.set(tenant, rest);
      return job;
    }
    return undefined;
  }
}
