import { LRUCache } from 'lru-cache';
import { type WindowCount, windowsMax } from '../../auth/window-counter.ts';
import type { RequestCounter } from '../../http/listener/rate-limit.ts';

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
export function createLeasedCounter(
  take: (key: string, by: number) => Promise<WindowCount>,
  nowMs = () => performance.now(),
): RequestCounter {
  const leases = new LRUCache<string, Lease>({ max: windowsMax });
  /** Keys for which the other process has been asked. */
  const asking = new Map<string, Promise<void>>();
  const ask = (key: string, size: number): Promise<void> => {
    const asked = take(key, size)
      .then(({ count, msLeft }) => {
        leases.set(key, { before: count - size, size, endsAtMs: nowMs() + msLeft, used: 0 });
      })
      .finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  };
  const add: RequestCounter['add'] = (key, limit) => {
    const known = leases.get(key);
    const lease = known !== undefined && known.endsAtMs > nowMs() ? known : undefined;
    // once a count exceeds the limit, all later ones of the window do
    if (lease === undefined || (lease.used === lease.size && lease.before + lease.used <= limit)) {
      const asked = asking.get(key) ?? ask(key, Math.ceil(limit / leasesPerLimit));
      return asked.then(() => add(key, limit));
    }
    if (lease.used < lease.size) lease.used += 1;
    return { count: lease.before + lease.used, msLeft: lease.endsAtMs - nowMs() };
  };
  return { add };
}
