import { LRUCache } from 'lru-cache';
import { type WindowCount, windowsMax } from '../../auth/window-counter.ts';

/** Part of a limit that this process may use without asking. */
interface Lease {
  /** The count in all processes when the lease began. */
  readonly before: number;
  readonly size: number;
  readonly endsAtMs: number;
  used: number;
}

/** A process leases this part of a limit at a time; a limit below it is counted one by one. */
const leasesPerLimit = 100;

/**
 * Counts in windows that several processes share: each asks the counting one for a hundredth of the
 * limit at a time (`take`), so that most requests wait for no other process. The sum never exceeds
 * the limit; what a process leases and does not use is lost, at most a hundredth of the limit.
 */
export class LeasedCounter {
  readonly #take: (key: string, by: number) => Promise<WindowCount>;
  readonly #nowMs: () => number;
  readonly #leases = new LRUCache<string, Lease>({ max: windowsMax });
  /** Keys for which the other process has been asked. */
  readonly #asked = new Map<string, Promise<void>>();

  constructor(take: (key: string, by: number) => Promise<WindowCount>, nowMs = () => performance.now()) {
    this.#take = take;
    this.#nowMs = nowMs;
  }

  /** Adds one, after asking the other process if necessary. */
  add(key: string, limit: number): WindowCount | Promise<WindowCount> {
    const known = this.#leases.get(key);
    const lease = known !== undefined && known.endsAtMs > this.#nowMs() ? known : undefined;
    // once a count exceeds the limit, all later ones of the window do
    if (lease === undefined || (lease.used === lease.size && lease.before + lease.used <= limit)) {
      const asked = this.#asked.get(key) ?? this.#ask(key, Math.ceil(limit / leasesPerLimit));
      return asked.then(() => this.add(key, limit));
    }
    if (lease.used < lease.size) lease.used += 1;
    return { count: lease.before + lease.used, msLeft: lease.endsAtMs - this.#nowMs() };
  }

  #ask(key: string, size: number): Promise<void> {
    const asked = this.#take(key, size)
      .then(({ count, msLeft }) => {
        const lease = { before: count - size, size, endsAtMs: this.#nowMs() + msLeft, used: 0 };
        this.#leases.set(key, lease);
      })
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }
}
